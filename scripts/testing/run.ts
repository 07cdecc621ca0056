/**
 * Runs checks and tests and reports them: one line a step, details only of failures, one exit code. The last line
 * counts tests: `N passed, N failed`. Arguments choose steps or tests; `--help` shows how.
 */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { secondRun } from './second-run.ts'
import { changedFiles, testsAffectedBy, testsOf } from './selection.ts'
import { integrationFiles, integrationTests, root, type Step, staticChecks, unitFiles, unitTests } from './steps.ts'

/** The steps that arguments can name: `checks` are all that are no tests. */
const stepNames = ['build', 'checks', ...staticChecks.map(({ name }) => name), 'unit', 'integration']
const help = `npm test [-- STEP… | PATH… | --changed]

  npm test                             everything
  npm test types unit                  these steps
  npm test src/storage test/up         the tests of files and folders
  npm test -- --changed                types, lint, and the tests that import files changed since the last commit
  npm test -- --no-build unit          without a build, which is known to be up to date

steps: ${stepNames.join(', ')}`

interface Outcome {
  readonly failed: boolean
  readonly output: string
}

interface Plan {
  /** Run side by side. */
  readonly checks: readonly Step[]
  /** Groups run one after the other, the steps of a group side by side. */
  readonly tests: readonly (readonly Step[])[]
}

/** Compiled modules. Without them, half of the time of a file of tests goes into compiling TypeScript again. */
const compileCache = join(root, 'node_modules/.cache/compiled')

const args = process.argv.slice(2)
if (args.includes('--help')) console.log(help)
else await main(args)

async function main(all: readonly string[]): Promise<void> {
  const given = all.filter((arg) => arg !== '--no-build')
  let plan: Plan
  try {
    plan = planOf(given)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${help}`)
    process.exitCode = 1
    return
  }
  if (given.length === all.length) build()
  const counts = { passed: 0, failed: 0 }
  const failures: string[] = []
  // A run of a few tests shows a failure at once.
  const areWholeSteps = given.every((name) => stepNames.includes(name))
  const report = async (step: Step): Promise<void> => {
    const result = await perform(step)
    counts.passed += result.passed
    const again = result.failed && areWholeSteps ? secondRun(step, result.output) : undefined
    if (again) return report(again)
    counts.failed += result.failures
    if (result.failed) failures.push(step.name)
  }
  await Promise.all(plan.checks.map(report))
  for (const group of plan.tests) await Promise.all(group.map(report))
  if (failures.length > 0) console.log(`failed: ${failures.join(', ')}`)
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
  process.exitCode = failures.length > 0 ? 1 : 0
}

interface Performance extends Outcome {
  readonly passed: number
  readonly failures: number
}

/** Runs a step and prints how it went. Tests print failures, skipped tests and progress at once. */
async function perform(step: Step): Promise<Performance> {
  const started = performance.now()
  const tallyOf = (line: string): RegExpExecArray | null => /^(\d+) passed, (\d+) failed.*/.exec(line)
  const { failed, output } = await run(step.command, (line) => {
    if (step.isTests && line.trim() !== '' && !tallyOf(line)) console.log(`    ${line}`)
  })
  const lines = output.trimEnd().split('\n')
  const tally = step.isTests ? tallyOf(lines.at(-1) ?? '') : null
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${failed ? '✗' : '✓'} ${step.name}${tally ? `: ${tally[0]}` : ''} (${seconds} s)`)
  // Skipped checks print their reason, even if all others pass.
  const shown = failed ? lines : lines.filter((line) => line.startsWith('skipped: '))
  if (!step.isTests && shown.join('').trim() !== '') console.log(shown.map((line) => `    ${line}`).join('\n'))
  return { failed, output, passed: Number(tally?.[1] ?? 0), failures: Number(tally?.[2] ?? 0) }
}

/** Throws an Error for an argument that is neither a step nor a path. */
function planOf(given: readonly string[]): Plan {
  const units = unitFiles()
  const integrations = integrationFiles()
  if (given.length === 0) return { checks: staticChecks, tests: testSteps(units, integrations) }
  if (given.includes('--changed')) {
    const changed = changedFiles(root)
    const checks = staticChecks.filter(({ name }) => name === 'types' || name === 'lint')
    return {
      checks,
      tests: testSteps(testsAffectedBy(changed, units, root), testsAffectedBy(changed, integrations, root)),
    }
  }
  const names = new Set(given)
  const areAllChecks = names.delete('checks')
  const checks = staticChecks.filter(({ name }) => names.delete(name) || areAllChecks)
  const all = [...(names.delete('unit') ? units : []), ...(names.delete('integration') ? integrations : [])]
  names.delete('build')
  const chosen = new Set([...all, ...testsOf([...names], [...units, ...integrations], root)])
  return {
    checks,
    tests: testSteps(
      units.filter((file) => chosen.has(file)),
      integrations.filter((file) => chosen.has(file)),
    ),
  }
}

function testSteps(units: readonly string[], integrations: readonly string[]): (readonly Step[])[] {
  return [
    ...(units.length > 0 ? [unitTests(units)] : []),
    ...(integrations.length > 0 ? [[integrationTests(integrations)]] : []),
  ]
}

/** Builds the bundle and the schema, which the tests use. */
function build(): void {
  const { status } = spawnSync(join(root, 'scripts/build'), { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) process.exit(status ?? 1)
}

/** Runs a command in the root; calls back for each line; resolves with its output, stdout and stderr in their order. */
function run([command = '', ...commandArgs]: readonly string[], onLine: (line: string) => void): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  // A test runner inside another one changes its output.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  const env = { NODE_COMPILE_CACHE: compileCache, ...inherited }
  const child = spawn(command, commandArgs, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    createInterface({ input: stream }).on('line', onLine)
  }
  child.on('error', (error) => resolve({ failed: true, output: String(error) }))
  child.on('close', (code) => resolve({ failed: code !== 0, output: Buffer.concat(chunks).toString() }))
  return promise
}
