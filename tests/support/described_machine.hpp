// Machine descriptions for hwloc, with devices: its synthetic machines have none.
//
// A machine is written as it is built: package(0, {0, 3}, bridge(...)), each part with its
// contents. It is in force while its DescribedMachine exists.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace chime::tests {

// Consecutive processors.
struct Cpus {
  int first, last;
};

template <class... Held>
std::string held(const Held&... parts) {
  return (std::string() + ... + parts);
}

inline std::string xml_object(const std::string& attributes, const std::string& content) {
  static int count = 0;
  return "<object gp_index=\"" + std::to_string(++count) + "\" " + attributes + ">" + content +
         "</object>\n";
}

inline std::string xml_sets(Cpus cpus) {
  char set[32];
  std::snprintf(set, sizeof set, "0x%08x", (2u << cpus.last) - (1u << cpus.first));
  std::string text;
  for (const char* name : {"cpuset", "complete_cpuset"})
    text += std::string(name) + "=\"" + set + "\" ";
  return text + "nodeset=\"0x1\" complete_nodeset=\"0x1\" ";
}

// Each processor a core of its own.
template <class... Held>
std::string package(int number, Cpus cpus, const Held&... devices) {
  std::string cores;
  for (int cpu = cpus.first; cpu <= cpus.last; ++cpu) {
    const std::string index = "os_index=\"" + std::to_string(cpu) + "\" ";
    const std::string sets = xml_sets({cpu, cpu});
    cores +=
        xml_object("type=\"Core\" " + index + sets, xml_object("type=\"PU\" " + index + sets, ""));
  }
  return xml_object(
      "type=\"Package\" os_index=\"" + std::to_string(number) + "\" " + xml_sets(cpus),
      cores + held(devices...));
}

// A host bridge, which leads to bus `bus` ("80") and later ones.
template <class... Held>
std::string host_bridge(const std::string& bus, const Held&... devices) {
  return xml_object(
      "type=\"Bridge\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"0000:[" + bus + "-ff]\"",
      held(devices...));
}

// A PCI bridge, at `address` ("0000:80:01.0").
template <class... Held>
std::string pci_bridge(const std::string& address, const Held&... devices) {
  return xml_object(
      "type=\"Bridge\" bridge_type=\"1-1\" depth=\"1\" bridge_pci=\"0000:[01-ff]\" "
      "pci_busid=\"" +
          address + "\" pci_type=\"0604 [10b5:8747] [0000:0000] 00\" pci_link_speed=\"0.0\"",
      held(devices...));
}

inline std::string pci_device(const std::string& address, const std::string& type,
                              const std::string& content) {
  return xml_object("type=\"PCIDev\" pci_busid=\"" + address + "\" pci_type=\"" + type +
                        " [0000:0000] 00\" pci_link_speed=\"0.0\"",
                    content);
}

inline std::string gpu(const std::string& address) {
  return pci_device(address, "0302 [10de:2330]", "");
}

inline std::string nic(const std::string& address, const std::string& name) {
  return pci_device(address, "0207 [15b3:1021]",
                    xml_object("type=\"OSDev\" name=\"" + name + "\" osdev_type=\"3\"", ""));
}

class DescribedMachine {
 public:
  // It has all processors of its `packages`, `cpus`.
  template <class... Packages>
  explicit DescribedMachine(Cpus cpus, const Packages&... packages) {
    const std::string sets = xml_sets(cpus);
    const std::string node =
        xml_object("type=\"NUMANode\" os_index=\"0\" " + sets + "local_memory=\"1048576\"", "");
    std::ofstream(file_)
        << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        << "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
        << xml_object(
               "type=\"Machine\" os_index=\"0\" allowed_cpuset=\"0xffffffff\" "
               "allowed_nodeset=\"0x1\" " +
                   sets,
               node + held(packages...))
        << "</topology>\n";
    ::setenv("HWLOC_XMLFILE", file_.c_str(), 1);
  }
  ~DescribedMachine() {
    ::unsetenv("HWLOC_XMLFILE");
    ::unlink(file_.c_str());
  }
  DescribedMachine(const DescribedMachine&) = delete;
  DescribedMachine& operator=(const DescribedMachine&) = delete;

 private:
  static std::string some_file() {
    static int count = 0;
    const char* const folder = std::getenv("TMPDIR");
    return (folder ? folder : "/tmp") + ("/machine." + std::to_string(::getpid())) + "." +
           std::to_string(++count) + ".xml";
  }
  const std::string file_ = some_file();
};

// Two packages of four processors, with two GPUs each. mlx5_0 and mlx5_1 share a bridge with a GPU
// of the first package; mlx5_2 and mlx5_3 hang at the second, at a root of their own.
inline DescribedMachine two_packages() {
  return DescribedMachine(
      {0, 7},
      package(
          0, {0, 3},
          host_bridge(
              "00", pci_bridge("0000:00:01.0", gpu("0000:02:00.0"), nic("0000:03:00.0", "mlx5_0")),
              pci_bridge("0000:00:02.0", gpu("0000:06:00.0"), nic("0000:07:00.0", "mlx5_1")))),
      package(1, {4, 7},
              host_bridge("80", pci_bridge("0000:80:01.0", gpu("0000:82:00.0")),
                          pci_bridge("0000:80:02.0", gpu("0000:86:00.0"))),
              host_bridge("c0", nic("0000:c1:00.0", "mlx5_2"), nic("0000:c2:00.0", "mlx5_3"))));
}

inline cpu_set_t cpu_set(Cpus cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu = cpus.first; cpu <= cpus.last; ++cpu) CPU_SET(cpu, &set);
  return set;
}

}  // namespace chime::tests
