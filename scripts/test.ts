/**
 * Runs all checks and tests and says how they went: one line a step, details only of what failed, one exit code.
 * Arguments choose steps: `scripts/test types unit`. The last line counts tests: `N passed, N failed`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface Step {
  readonly name: string
  readonly command: readonly string[]
  /** Its output ends with `N passed, N failed`. */
  readonly tests?: boolean
}

interface Outcome {
  readonly failed: boolean
  readonly output: string
}

const root = dirname(import.meta.dirname)
const node = process.execPath
const bin = (name: string): string => join(root, 'node_modules/.bin', name)
const reporter = ['--test-reporter', join(root, 'scripts/test-reporter.ts'), '--test-reporter-destination', 'stdout']

const steps: readonly Step[] = [
  { name: 'types', command: [bin('tsc'), '--noEmit'] },
  { name: 'lint', command: [bin('biome'), 'check', '--error-on-warnings', '--diagnostic-level=warn'] },
  {
    name: 'promises',
    command: [bin('oxlint'), '--type-aware', '--deny-warnings', 'src', 'test', 'scripts', 'examples'],
  },
  { name: 'layers', command: [node, join(root, 'scripts/check-layers.ts')] },
  { name: 'dead code', command: [bin('knip'), '--no-progress', '--no-config-hints'] },
  // One process for all units: starting one for each would take longer than the tests.
  {
    name: 'unit',
    command: [
      node,
      '--test',
      '--test-isolation=none',
      ...reporter,
      ...globSync(['src/**/*.test.ts', 'scripts/**/*.test.ts'], { cwd: root }).sort(),
    ],
    tests: true,
  },
  {
    name: 'integration',
    command: [
      node,
      '--test',
      '--test-concurrency=2',
      '--test-timeout=600000',
      ...reporter,
      ...globSync('test/**/*.test.ts', { cwd: root }).sort(),
    ],
    tests: true,
  },
]

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => name !== 'build' && !steps.some((step) => step.name === name))
if (unknown.length > 0) {
  console.error(`there is no step ${unknown.join(', ')}: choose of build, ${steps.map(({ name }) => name).join(', ')}`)
  process.exit(1)
}

const counts = { passed: 0, failed: 0 }
const failures: string[] = []
build()
for (const step of steps) {
  if (chosen.length > 0 && !chosen.includes(step.name)) continue
  const started = performance.now()
  const { failed, output } = await run(step.command)
  const lines = output.trimEnd().split('\n')
  const tally = step.tests ? /^(\d+) passed, (\d+) failed.*/.exec(lines.at(-1) ?? '') : null
  if (tally) lines.pop()
  counts.passed += Number(tally?.[1] ?? 0)
  counts.failed += Number(tally?.[2] ?? 0)
  if (failed) failures.push(step.name)
  console.log(
    `${failed ? '✗' : '✓'} ${step.name}${tally ? `: ${tally[0]}` : ''} ` +
      `(${((performance.now() - started) / 1000).toFixed(1)} s)`,
  )
  // Tests that were skipped say why, also when all is well.
  if ((failed || step.tests) && lines.join('').trim() !== '') console.log(lines.map((line) => `    ${line}`).join('\n'))
}
if (failures.length > 0) console.log(`failed: ${failures.join(', ')}`)
console.log(`${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = failures.length > 0 ? 1 : 0

/** The bundle and the schema, which the tests use. */
function build(): void {
  const { status } = spawnSync(join(root, 'scripts/build'), { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) process.exit(status ?? 1)
}

/** Runs a command at the root; its output, in the order it came, is kept for the report. */
function run([command = '', ...args]: readonly string[]): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  // A test runner that finds itself inside another one changes its output.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.on('error', (error) => resolve({ failed: true, output: String(error) }))
  child.on('close', (code) => resolve({ failed: code !== 0, output: Buffer.concat(chunks).toString() }))
  return promise
}
