"""summary_test.py <chime-trace>: the tables of chime-trace summary, of timelines whose figures are worked out by hand. Times are in microseconds."""
import sys
import unittest

from made_timeline import BARRIER, PUT, WAIT, Events, SummaryTest


def waits_of_three_pes():
    """PE 0 waits for PEs 1 and 2, PE 2 for itself, PE 1 for nobody that is known."""
    events = Events(3, dropped=1)
    late = events.span(1, PUT, "signal", 25, 39)
    events.span(1, PUT, "signal", 26, 27, beside=late)  # over when the arrow begins
    events.arrow(late, events.span(0, WAIT, "wait", 10, 40), at=30)
    events.message(1, 53, 0, 50, 60)
    events.message(1, 65, 0, 70, 80)
    events.message(2, 105, 0, 100, 110)
    events.message(2, 20, 2, 10, 30)
    events.span(1, WAIT, "wait", 0, 5)
    return events


def barriers_of_three_pes():
    """PE 0 waits in two barriers of all PEs for PEs 1 and 2. Barriers of other teams, of PEs 0 and 1, and of PEs 1 and 2, lie between."""
    events = Events(3)
    for begins, end in (((200, 220, 240), 260), ((300, 310, 320), 340)):
        for pe, begin in enumerate(begins):
            events.span(pe, BARRIER, "collective", begin, end, team=0)
        events.span(0, f"wait in {BARRIER}", "wait", begins[0] + 1, begins[0] + 30, pe=1)
    events.span(0, f"wait in {BARRIER}", "wait", 231, 235, pe=2)  # over before PE 2 came
    events.span(2, f"wait in {BARRIER}", "wait", 241, 242, pe=0)
    events.span(0, f"wait in {BARRIER}", "wait", 270, 275, pe=1)  # within no call
    events.span(0, BARRIER, "collective", 205, 207, team=5)
    events.span(1, BARRIER, "collective", 265, 267, team=5)
    events.span(1, BARRIER, "collective", 202, 204, team=6)
    events.span(2, BARRIER, "collective", 203, 204, team=6)
    return events


def steps_of_two_pes():
    """Three steps, of 30, 13 and 20 us. Each begins with the kernel `step`, and the last wait that a message from elsewhere ended decides."""
    events = Events(2)
    for pe, beginnings in enumerate((((0, 28), (30, 38), (40, 58)), ((0, 28), (30, 38), (43, 60)))):
        for begin, end in beginnings:
            events.span(pe, "step", "kernel", begin, end)
    events.span(0, "once", "kernel", 190, 191)
    for begin in (200, 210, 220, 230):
        events.span(1, "rare on PE 0", "kernel", begin, begin + 1)
    events.span(1, "chime_quiet", "call", 38, 43)
    for begin in (100, 110):
        events.span(1, "chime_extra", "call", begin, begin + 2)
    events.span(0, "chime_extra", "call", 100, 104)
    events.message(1, 27, 0, 25, 32)  # sent before step 1 began
    events.message(0, 37, 1, 35, 39)
    events.message(1, 44, 0, 41, 48)
    events.message(0, 50, 1, 45, 55)
    events.message(0, 52, 1, 56, 57)  # has come before the wait began
    events.message(1, 58.5, 1, 58, 59)  # its own
    return events


class Summary(SummaryTest):
    def rows(self, events, table, *options):
        return self.table(events, 1 + table, *(options or ["--step", "chime"]))[1]

    def test_time_in_waits_is_summed_by_pe_call_and_peer(self):
        self.assertEqual(self.rows(waits_of_three_pes(), 0), [
            f"0 {WAIT} 1 3 0.050 0.030 0.018", f"2 {WAIT} 2 1 0.020 0.020 0.010", f"0 {WAIT} 2 1 0.010 0.010 0.005", f"1 {WAIT} ? 1 0.005 0.005 0.000"])

    def test_late_senders_are_those_that_another_pe_waited_for(self):
        self.assertEqual(self.rows(waits_of_three_pes(), 1), ["1 0 2 0.018 0.015", "2 0 1 0.005 0.005"])

    def test_rows_that_are_left_out_are_counted(self):
        step = ("--step", "chime", "--rows", "1")
        self.assertEqual(self.rows(waits_of_three_pes(), 0, *step), [f"0 {WAIT} 1 3 0.050 0.030 0.018", "(3 more rows: --rows)"])
        self.assertEqual(self.rows(waits_of_three_pes(), 1, *step), ["1 0 2 0.018 0.015", "(1 more rows: --rows)"])
        self.assertEqual(len(self.rows(waits_of_three_pes(), 1, "--step", "chime", "--rows", "2")), 2)

    def test_events_and_those_without_room_are_counted(self):
        first = self.run_it(waits_of_three_pes(), "--step", "chime").splitlines()[0]
        self.assertTrue(first.endswith("/run.json: 3 PEs, 12 events, and 1 without room"), first)
        self.assertNotIn("without room", self.run_it(barriers_of_three_pes(), "--step", "chime"))

    # A peer comes late to the same call of the same team, and a wait is no longer late than it is long.
    def test_a_wait_in_a_call_is_for_the_peers_same_call(self):
        self.assertEqual(self.rows(barriers_of_three_pes(), 0), [
            f"0 wait in {BARRIER} 1 3 0.063 0.029 0.028", f"0 wait in {BARRIER} 2 1 0.004 0.004 0.004", f"2 wait in {BARRIER} 0 1 0.001 0.001 0.000"])

    def test_a_call_that_meets_is_ended_by_the_member_that_came_last(self):
        events = Events(3)
        for pe, (begin, end) in enumerate(((200, 262), (220, 261), (240, 260))):
            events.span(pe, "chime_reduce", "collective", begin, end, team=0)
        self.assertEqual(self.path(events, "--step", "chime_reduce"), (
            "Critical path of step 0 of 1 ('chime_reduce', 0.062 ms, 1 messages)",
            ["2 outside of Chime 0.040 64.5%", "0 message from PE 2 (chime_reduce) 0.022 35.5%"]))

    def test_the_path_of_the_median_step_of_the_most_frequent_kernel_goes_back_from_pe_to_pe(self):
        title, rows = self.path(steps_of_two_pes())
        self.assertEqual(title, "Critical path of step 2 of 3 ('step', 0.020 ms, 2 messages)")
        self.assertEqual(rows, [
            "1 step 0.009 45.0%", f"0 message from PE 1 ({WAIT}) 0.004 20.0%", "0 step 0.002 10.0%", f"1 message from PE 0 ({WAIT}) 0.005 25.0%"])

    def test_a_path_ends_where_its_step_begins(self):
        self.assertEqual(self.path(steps_of_two_pes(), "--number", "1"), ("Critical path of step 1 of 3 ('step', 0.013 ms, 2 messages)", [
            f"0 message from PE 1 ({WAIT}) 0.002 15.4%", "0 step 0.005 38.5%", f"1 message from PE 0 ({WAIT}) 0.002 15.4%", "1 chime_quiet 0.004 30.8%"]))
        self.assertEqual(self.path(steps_of_two_pes(), "--number", "0"), ("Critical path of step 0 of 3 ('step', 0.030 ms, 0 messages)", ["0 step 0.030 100.0%"]))

    def test_a_step_counts_if_all_pes_have_it(self):
        self.assertEqual(self.path(steps_of_two_pes(), "--step", "extra")[0], "Critical path of step 0 of 1 ('extra', 0.010 ms, 0 messages)")

    def test_a_step_that_is_not_there_is_refused(self):
        self.assertIn("there are 3 steps of 'step', from 0", self.run_it(steps_of_two_pes(), "--number", "3", code=2))
        self.assertIn("no event's name has 'none' in it", self.run_it(steps_of_two_pes(), "--step", "none", code=2))

    def test_a_request_can_be_a_step(self):
        events = Events(1)
        events.request(0, "NIC RDMA_READ", 5, 9)
        self.assertEqual(self.path(events, "--step", "READ"), ("Critical path of step 0 of 1 ('READ', 0.004 ms, 0 messages)", ["0 outside of Chime 0.004 100.0%"]))
        del events.all[0]
        self.assertIn("a request ends that did not begin", self.run_it(events, "--step", "READ", code=2))

    def test_an_arrow_ends_in_its_event_to_the_nanosecond(self):
        events = Events(2)
        events.message(1, 1, 0, 1.001, 2)
        _, wait, _, stop = events.all
        wait["dur"], stop["ts"] = 1.001, 2.001  # 1001 ns, whose product of 1.001 and 1000 is a little less
        self.assertIn(f"0 {WAIT} 1 1", self.rows(events, 0)[0])

    def test_tables_that_cannot_be_written_are_an_error(self):
        with open("/dev/full", "w") as full:
            self.assertIn("chime-trace: the output cannot be written", self.run_it(waits_of_three_pes(), "--step", "chime", code=2, to=full))

    def test_a_wrong_option_has_the_exit_code_of_errors(self):
        self.assertIn("--no-such-option", self.run_it(waits_of_three_pes(), "--no-such-option", code=2))

    def test_an_arrow_to_no_event_is_refused(self):
        events = waits_of_three_pes()
        events.arrow({"pid": 0, "tid": 99, "ts": 5}, events.all[2])
        self.assertIn("an arrow has no event", self.run_it(events, "--step", "chime", code=2))


if __name__ == "__main__":
    SummaryTest.program = sys.argv[1]
    unittest.main(argv=sys.argv[:1], verbosity=2)
