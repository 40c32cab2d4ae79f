
#include <nlohmann/json.hpp>

#include "test.h"
#include "tools/evidence_page.h"
#include "tools/gpu/report/merge_shards.h"

namespace warpmat::shards_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* product = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32";

/// The JSON files of a sweep of one form on the pretended GPU, whole and in three parts.
class Sweeps {
 public:
  Sweeps() {
    sweep("whole", {});
    for (const char* shard : {"1/3", "2/3", "3/3"}) sweep(std::string("part_") + shard[0], {"--shard", shard});
  }

  /// Runs diff with some more options and returns the file.
  std::string sweep(const std::string& name, std::vector<std::string> options) {
    std::vector<std::string> arguments{"diff", "--forms", product, "--json", path(name), "--keep", directory_.path("")};
    if (std::ranges::find(options, "--cases") == options.end()) options.insert(options.end(), {"--cases", "20"});
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = run_pretending(arguments, {no_faults});
    CHECK(outcome.status == 0);
    return path(name);
  }

  std::string path(const std::string& name) const { return directory_.path(name + ".json"); }

  /// A copy of part 2 with one key changed.
  std::string changed(const std::string& pointer, const Json& value) {
    Json json = Json::parse(read_text(path("part_2")));
    json[Json::json_pointer(pointer)] = value;
    write_text(path("changed"), json.dump());
    return path("changed");
  }

 private:
  TemporaryDirectory directory_;
};

TEST_CASE("evidence makes of the parts of a sweep what it makes of the whole", "[tools]") {
  const Sweeps sweeps;
  const Outcome whole = evidence_of({sweeps.path("whole")});
  const Outcome parts = evidence_of({sweeps.path("part_3"), sweeps.path("part_1"), sweeps.path("part_2")});
  CHECK(whole.status == 0);
  CHECK(parts.status == 0);
  CHECK(without_time(parts.out) == without_time(whole.out));
  const Json json = Json::parse(read_text(sweeps.path("whole")));
  CHECK(contains(parts.out, fmt::format("| 1 | 20 | {} | 0 |", json.at("totals").at("outputs").get<std::size_t>())));
  std::size_t cases = 0;
  for (const char* part : {"part_1", "part_2", "part_3"})
    cases += Json::parse(read_text(sweeps.path(part))).at("rows").at(0).at("cases").get<std::size_t>();
  CHECK(cases == 20);
}

TEST_CASE("evidence refuses parts that are missing, there twice, incomplete or of other runs", "[tools]") {
  Sweeps sweeps;
  const std::string whole = sweeps.path("whole"), one = sweeps.path("part_1"), two = sweeps.path("part_2"), three = sweeps.path("part_3");
  check_refused({one, three}, fmt::format("part 2/3 is missing of the run that {} belongs to", one));
  check_refused({three}, "part 1/3 is missing");
  check_refused({one, two, three, two}, fmt::format("{} (part 2/3) and {} (part 2/3) hold the same cases", two, two));
  check_refused({whole, whole}, "hold the same cases");
  check_refused({whole, one, two, three}, "are of runs that have cases in common");
  check_refused({one, sweeps.changed("/settings/seed", "2"), three}, "are no parts of one run: seed: 1 and 2");
  check_refused({one, sweeps.changed("/warpmat", "0.0.9"), three}, "no parts of one run: version of warpmat: ");
  check_refused({one, sweeps.changed("/gpus/0/card", "another"), three},
                "GPU: pretended GPU, driver 1.2.3, CUDA 13.0, assembler release 13.0 and another");
  check_refused({one, sweeps.changed("/gpus/0/driver", "1.2.4"), three}, "driver 1.2.4");
  check_refused({one, sweeps.changed("/settings/version of the generator", "1"), three}, "version of the generator: ");
  check_refused({one, sweeps.changed("/count", 21), three}, "number of cases: 20 and 21");
  check_refused({one, sweeps.changed("/items/0", "mma.of.tomorrow"), three}, "items: ");
  check_refused({one, sweeps.changed("/run", "diff of tomorrow"), three}, "no parts of one run: run: ");
  check_refused({one, sweeps.changed("/shard", "2/4"), three}, "number of parts: 3 and 4");
  check_refused({one, sweeps.changed("/complete", false), three}, "(part 2/3) is incomplete: run it again");
  check_refused({one, sweeps.changed("/shard", "4/3"), three}, "'4/3' is no part of a run");
  const std::string longer = sweeps.sweep("longer", {"--cases", "30"});
  check_refused({whole, longer}, "have cases in common");
}

TEST_CASE("evidence takes sweeps whose cases differ, and a whole one that is incomplete", "[tools]") {
  Sweeps sweeps;
  const std::string other = sweeps.sweep("other", {"--seed", "7"});
  const Outcome both = evidence_of({sweeps.path("whole"), other});
  CHECK(both.status == 0);
  CHECK(contains(both.out, "| 7 | 20 |"));
  sweeps.changed("/shard", "1/1");
  Json json = Json::parse(read_text(sweeps.path("changed")));
  json["complete"] = false;
  write_text(sweeps.path("changed"), json.dump());
  const Outcome incomplete = evidence_of({sweeps.path("changed")});
  CHECK(incomplete.status == 0);
  CHECK(contains(incomplete.out, "s, incomplete |\n"));
}

/// What merge prints of the parts 1/3 to 3/3 of a run, in another order, is what it prints of the whole; so is the sum that it writes.
void check_parts(const std::vector<std::string>& arguments) {
  const TemporaryDirectory directory;
  const auto run = [&](const std::string& name, const std::vector<std::string>& options) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--json", directory.path(name)});
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = run_command(all);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    return directory.path(name);
  };
  const std::string whole = run("whole", {}), one = run("one", {"--shard", "1/3"}), two = run("two", {"--shard", "2/3"}),
                    three = run("three", {"--shard", "3/3"}), sum = directory.path("sum");
  const Outcome of_whole = run_command({"merge", whole}), of_parts = run_command({"merge", three, one, two, "--json", sum});
  CHECK(of_whole.status == 0);
  CHECK(of_parts.status == 0);
  CHECK(of_parts.out == of_whole.out);
  Json totals;
  for (const std::string& part : {one, two, three}) {
    const Json json = Json::parse(read_text(part));
    for (const auto& [column, total] : json.at("totals").items())
      totals[column] = (totals.contains(column) ? totals[column].get<int>() : 0) + total.get<int>();
  }
  CHECK(totals == Json::parse(read_text(whole)).at("totals"));
  CHECK(run_command({"merge", sum}).out == of_whole.out);
  CHECK(contains(run_command({"merge", one, three}).err, "part 2/3 is missing"));
  CHECK(contains(run_command({"merge", whole, one, two, three}).err, "have cases in common"));
  CHECK(contains(run_command({"evidence", whole}).err, "'warpmat merge' adds it up"));
}

TEST_CASE("merge makes of the parts of a run what it makes of the whole, also where no GPU took part", "[tools]") {
  check_parts({"diff", "--paths", "--target", "sm_90a", "--forms", product, "--cases", "20"});
  check_parts({"replay", source_path("tests/vectors/sm_90/" + std::string(product) + ".jsonl.gz")});
}

TEST_CASE("merge says what is wrong, and ends with 1", "[tools]") {
  Sweeps sweeps;
  const auto merge = [](const std::vector<std::string>& files) {
    std::vector<std::string> arguments = files;
    arguments.insert(arguments.begin(), "merge");
    return run_command(arguments);
  };
  const std::string other = sweeps.sweep("other", {"--seed", "7"}), whole = sweeps.path("whole");
  CHECK(merge({whole, other}).status == 0);
  CHECK(contains(merge({whole, other, "--json", sweeps.path("sum")}).err, "these are parts of 2"));
  const Outcome differs = merge({sweeps.path("part_1"), sweeps.changed("/rows/0/mismatches", 3), sweeps.path("part_3")});
  CHECK(differs.status == 1);
  CHECK(contains(differs.err, "diff: 3 mismatches"));
  CHECK(contains(merge({sweeps.path("missing")}).err, "cannot read"));
}

TEST_CASE("a run that cannot be shared by so many is refused", "[tools]") {
  CHECK(contains(run_pretending({"diff", "--forms", product, "--cases", "2", "--shard", "1/3"}).err,
                 "2 cases cannot be shared by so many") == false);
  CHECK(
      contains(run_pretending({"diff", "--forms", product, "--cases", "2", "--shard", "3/3"}).err, "2 cases cannot be shared by so many"));
  CHECK(contains(run_pretending({"record", "--out", "/tmp/x.jsonl.gz", "--forms", product, "--shard", "2/2"}).err,
                 "1 forms cannot be shared by so many"));
}

// ---- What ends early
// ------------------------------------------------------------------------------------------------------------------------

TEST_CASE("diff that is interrupted prints and writes what it has compared, marked incomplete", "[tools]") {
  for (const auto& [signal, status] : {std::pair{"INT 3", 130}, {"TERM 3", 143}}) {
    const TemporaryDirectory directory;
    const std::string file = directory.path("sweep.json");
    const Outcome outcome = run_pretending({"diff", "--forms", "mma.*f16", "--cases", "30", "--json", file, "--keep", directory.path("")},
                                           {no_faults, fmt::format("WARPMAT_PRETEND_SIGNAL={}", signal)});
    CHECK(outcome.status == status);
    CHECK(contains(outcome.err, "warpmat: interrupted: "));
    CHECK(contains(outcome.err, "0 mismatches; the rest was not compared\n"));
    CHECK(contains(outcome.out, "30 cases a class; incomplete\n"));
    const Json json = Json::parse(read_text(file));
    CHECK(json.at("complete") == false);
    CHECK(json.at("error") == "interrupted");
    CHECK(json.at("totals").at("outputs") > 0);
    CHECK(json.at("rows").size() >= 1);
    CHECK(json.at("rows").size() < json.at("items").size());
    CHECK(directory.files() == std::vector<std::string>{"sweep.json"});
  }
}

}  // namespace
}  // namespace warpmat::shards_test
