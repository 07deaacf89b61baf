"""critical_path_test.py <chime-trace>: what ended each wait and which steps there are, in timelines made by hand. Times are in microseconds."""
import sys
import unittest

from made_timeline import BARRIER, BROADCAST, PUT, WAIT, Events, SummaryTest


class CriticalPath(SummaryTest):
    # The hosts' clocks differ by 5: PE 1's barrier begins after PE 0's has ended. From there the path would go round for ever.
    def test_a_path_never_goes_forward_in_time(self):
        events = Events(2)
        events.steps((130, 125))
        events.meet(0, BARRIER, 100, 110)
        events.meet(1, BARRIER, 115, 120)
        events.arrow(events.span(0, PUT, "signal", 113, 114.5), events.span(1, WAIT, "wait", 111, 114))
        self.assertEqual(self.path(events), ("Critical path of step 0 of 1 ('step', 0.130 ms, 0 messages)", ["0 step 0.130 100.0%"]))

    # PE 0 is the root. PE 2 comes to the same broadcast when PE 1 has its data, and before PE 1 has left.
    def test_a_member_of_a_broadcast_waits_for_its_data_and_not_for_the_last_member(self):
        events = Events(3)
        events.steps((40, 100, 60))
        for pe, begin, end in ((0, 10, 12), (1, 5, 14), (2, 13.5, 15)):
            events.meet(pe, BROADCAST, begin, end)
        events.span(1, f"wait in {BROADCAST}", "wait", 6, 13, pe=0)
        self.assertEqual(self.path(events)[1], ["0 step 0.010 10.0%", f"1 message from PE 0 (wait in {BROADCAST}) 0.003 3.0%", "1 step 0.087 87.0%"])

    # Both rows' teams have one handle. PE 3 comes to its row's barrier later than PE 1 to that of PE 0.
    def test_a_team_of_the_same_handle_and_other_members_is_another_team(self):
        events = Events(4)
        events.steps((100, 60, 60, 60))
        for pe, begin, end in ((0, 10, 22), (1, 20, 22), (2, 10, 32), (3, 21, 32)):
            events.meet(pe, "chime_barrier", begin, end, team=1048583, first_pe=pe // 2 * 2)
        events.span(0, "wait in chime_barrier", "wait", 11, 21, pe=1)
        self.assertEqual(self.path(events)[1], ["1 step 0.020 20.0%", "0 message from PE 1 (chime_barrier) 0.002 2.0%", "0 step 0.078 78.0%"])

    # Each of two barriers is a host's call, a collective and a wait in it; the third begins in the second one, and ends later.
    def test_a_step_is_no_part_of_another_one(self):
        events = Events(2)
        for pe in (0, 1):
            for begin in (10, 30):
                events.span(pe, BARRIER, "call", begin, begin + 10)
                events.meet(pe, BARRIER, begin + 1, begin + 10)
                events.span(pe, f"wait in {BARRIER}", "wait", begin + 2, begin + 9, pe=1 - pe)
            events.meet(pe, BARRIER, 35, 41)
        self.assertEqual(self.path(events, "--step", BARRIER, "--number", "0")[0], f"Critical path of step 0 of 3 ('{BARRIER}', 0.020 ms, 0 messages)")

    def test_a_timeline_without_kernels_has_its_other_tables(self):
        events = Events(2)
        events.meet(0, BARRIER, 10, 20)
        tables = self.run_it(events).split("\n\n")
        self.assertEqual(len(tables), 4)
        self.assertEqual(tables[3], "Critical path: the timeline has no kernel; --step names the call that begins a step\n")


if __name__ == "__main__":
    SummaryTest.program = sys.argv[1]
    unittest.main(argv=sys.argv[:1], verbosity=2)
