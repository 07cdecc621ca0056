/** The steps of `npm test`: static checks, which run side by side, then the tests. */
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Step {
  readonly name: string
  readonly command: readonly string[]
  /** True if its output ends with `N passed, N failed`. */
  readonly isTests?: boolean
}

export const root = dirname(dirname(import.meta.dirname))
const node = process.execPath
const bin = (name: string): string => join(root, 'node_modules/.bin', name)
const script = (name: string): string => join(root, 'scripts', name)
const reporter = ['--test-reporter', script('testing/reporter.ts'), '--test-reporter-destination', 'stdout']

/** They read the same files and write none. */
export const staticChecks: readonly Step[] = [
  { name: 'types', command: [bin('tsc'), '--noEmit'] },
  {
    name: 'types in the browser',
    command: [bin('tsc'), '--noEmit', '-p', 'src/apiserver/test-control/traces/page/browser'],
  },
  {
    name: 'published types',
    command: [bin('tsc'), '-p', 'tsconfig.types.json', '--emitDeclarationOnly', 'false', '--noEmit'],
  },
  { name: 'lint', command: [bin('biome'), 'check', '--error-on-warnings', '--diagnostic-level=warn'] },
  {
    name: 'promises',
    command: [bin('oxlint'), '--type-aware', '--deny-warnings', 'src', 'test', 'scripts', 'examples'],
  },
  { name: 'layers', command: [node, script('checks/layers.ts')] },
  { name: 'words', command: [node, script('checks/words.ts')] },
  { name: 'limits', command: [node, script('checks/limits.ts')] },
  { name: 'commits', command: [node, script('checks/commits.ts')] },
  { name: 'dead code', command: [bin('knip'), '--no-progress', '--no-config-hints'] },
  // Exports of the product that only tests use; `@internal` marks exceptions.
  { name: 'code only for tests', command: [bin('knip'), '--production', '--no-progress', '--no-config-hints'] },
]

const testsIn = (...patterns: string[]): string[] => globSync(patterns, { cwd: root }).sort()
export const unitFiles = (): string[] => testsIn('src/**/*.test.ts', 'scripts/**/*.test.ts')
export const integrationFiles = (): string[] => testsIn('test/**/*.test.ts')

/** Fewer files than this per process take less time than the start of another process. */
const minUnitFiles = 50

/** They take several seconds, so each half gets its share of them: the first file, and every second one after it. */
const longUnitFiles = [
  'src/apiserver/admission/sparse-objects.test.ts',
  'src/storage/log/store.test.ts',
  'src/storage/log/files.test.ts',
  'src/runtime/images/snapshots/layered-snapshots.test.ts',
  'src/node/streaming/back-pressure.test.ts',
  'src/machinery/yaml.test.ts',
  'src/storage/log/snapshots/snapshot.test.ts',
  'src/kubelet/pods/model/pod-workers.model.test.ts',
  'src/lib/linear-regexp/index.test.ts',
  'src/runtime/build/build-image.test.ts',
  'src/cluster/pki/pki.test.ts',
  'src/lib/profiling/profiling.test.ts',
  'src/storage/log/cleaning.test.ts',
  'src/kubelet/volumes/files/group-ownership.test.ts',
]

/** Unit tests run in two processes, side by side: one for each file would take longer to start than to run. */
export function unitTests(files: readonly string[]): readonly Step[] {
  const step = (name: string, some: readonly string[]): Step => ({
    name,
    command: [node, '--test', '--test-isolation=none', ...reporter, ...some],
    isTests: true,
  })
  if (files.length < 2 * minUnitFiles) return [step('unit', files)]
  // Neighbours share the modules that they load; their durations are alike, too.
  const half = (rest: number): string[] => longFirst(files, longUnitFiles).filter((_, index) => index % 2 === rest)
  return [step('unit, first half', half(0)), step('unit, second half', half(1))]
}

/** The files with the long ones at the beginning. */
const longFirst = (files: readonly string[], long: readonly string[]): string[] => [
  ...long.filter((file) => files.includes(file)),
  ...files.filter((file) => !long.includes(file)),
]

/**
 * They take a minute or more, so they begin first: no processor is idle at the end. Virtual machines and tests that
 * start many programs alternate.
 */
const longFiles = [
  'test/virtual-machine/services/ipvs.test.ts',
  'test/clients/kubectl-tour-first.test.ts',
  'test/virtual-machine/runtime/runtime.test.ts',
  'test/clients/kubectl-tour-second.test.ts',
  'test/virtual-machine/flannel/flannel.test.ts',
  'test/clients/kubectl-tour-third.test.ts',
  'test/kubelet/swap/swap.test.ts',
  'test/services/conformance/network.test.ts',
  'test/client/restarts.test.ts',
]

/** Each file of integration tests has its own process. `alone` runs one at a time; see `turns.ts` for the default. */
export function integrationTests(files: readonly string[], alone = false): Step {
  return {
    name: 'integration',
    command: [node, script('testing/integration.ts'), ...(alone ? ['--alone'] : []), ...longFirst(files, longFiles)],
    isTests: true,
  }
}
