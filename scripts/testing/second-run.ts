/**
 * Integration tests share the machine with each other, and CI shares it with strangers: a test may run into a deadline
 * without a fault. Files with failures run once more, alone; both outcomes are printed.
 */
import { integrationTests, type Step } from './steps.ts'

/** More failures than this are no coincidence. */
const maxFiles = 8

/** The files of tests that a report of failures names; undefined if a failure names none. */
export function failedFiles(report: string): readonly string[] | undefined {
  const files = new Set<string>()
  for (const [, failure = ''] of report.matchAll(/^failed: (.*)$/gm)) {
    // Tests in namespaces or on an executor are defined by their support, and named after their file.
    const [, file] =
      /^(?:tests of )?(test\/\S+\.test\.ts) /.exec(failure) ?? /\((test\/\S+\.test\.ts):\d+\)$/.exec(failure) ?? []
    if (!file) return undefined
    files.add(file)
  }
  return [...files]
}

/** The step that runs failed files once more; undefined if there are none, too many, or unknown ones. */
export function secondRun(step: Step, report: string): Step | undefined {
  const files = step.name === 'integration' ? failedFiles(report) : undefined
  if (!files || files.length === 0 || files.length > maxFiles) return undefined
  return { ...integrationTests(files, true), name: `once more, alone: ${files.join(', ')}` }
}
