"""The requests of PEs on several hosts to their PMIx launcher, and the PE that they report dead while they join."""
import os

from counting_pmix import counting, counts_in

# The keys by which PEs find each other's hosts. Other keys depend on how the PEs reach each other.
KEYS = "node", "host", "secret", "settings", "first.chime.settings"


def counted(**variables):
    """The words before a PE's command that count its requests; with `variables` of pmix_counter.cpp."""
    return counting(os.environ["TESTED_COUNTER"]) + [f"{name}={value}" for name, value in variables.items()]


def dies(pe, key):
    return counted(DIE_AT_PUT=f"{pe} chime.0.chime.{key}")


class AsksOnceAHost:
    """For tests of jobs whose PEs are counted()."""

    def assert_asked_once_a_host(self, output, hosts):
        """`hosts`: the PEs of each."""
        counts = counts_in(output)
        self.assertEqual(sorted(counts), sorted(pe for pes in hosts for pe in pes), output)
        for pes in hosts:
            leader, *others = sorted(pes)
            of_pe_0 = [] if leader == 0 else [("secret", 0), ("settings", 0)]
            self.assertEqual(counts[leader].questions(*KEYS), sorted([("node", pe) for pe in others] + of_pe_0))
            for pe in others:
                settings = "settings" if leader == 0 else "first.chime.settings"
                self.assertEqual(counts[pe].questions(*KEYS), sorted([("node", leader), ("host", leader), (settings, leader)]))
        for of_pe in counts.values():
            self.assertEqual((of_pe.puts, of_pe.commits), (of_pe.keys, of_pe.keys))  # each once
            self.assertLessEqual(of_pe.queries, of_pe.most_queries())
            self.assertLessEqual(max(of_pe.gets.values()), of_pe.most_gets_a_question())
        print({pe: (sum(of_pe.gets.values()), len(of_pe.gets), of_pe.queries) for pe, of_pe in sorted(counts.items())})
