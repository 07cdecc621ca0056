/** The GitHub action: its step, run as a runner does, with the files for variables and outputs. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, repository, temporaryFolder, withoutKubectl } from './t8s-process.ts'

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>
  readonly outputs: Readonly<Record<string, { readonly value: string }>>
  readonly runs: { readonly steps: readonly [{ readonly run: string; readonly env: Readonly<Record<string, string>> }] }
}

const action: Action = parse(readFileSync(join(repository, 'action.yml'), 'utf8'))
const [step] = action.runs.steps

/** Runs the step with inputs, and returns its exit code, output, and the variables and outputs that it sets. */
function runStep(t: TestContext, inputs: Readonly<Record<string, string>>, program = join(repository, 't8s')) {
  const folder = temporaryFolder(t)
  const files = { GITHUB_ENV: join(folder, 'env'), GITHUB_OUTPUT: join(folder, 'output') }
  const given = Object.entries(step.env).map(([name, value]) => {
    const [, input = ''] = /^\$\{\{ inputs\.(\S+) \}\}$/.exec(value) ?? []
    return [name, inputs[input] ?? action.inputs[input]!.default] as const
  })
  const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', step.run], {
    env: {
      ...process.env,
      ...files,
      ...Object.fromEntries(given),
      GITHUB_ACTION_PATH: repository,
      RUNNER_TEMP: folder,
      T8S_PROGRAM: program,
    },
    encoding: 'utf8',
    timeout: 90_000,
  })
  const values = (file: string): Readonly<Record<string, string>> => {
    if (status !== 0) return {}
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)))
  }
  return { status, output: stdout + stderr, variables: values(files.GITHUB_ENV), outputs: values(files.GITHUB_OUTPUT) }
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('the action starts a cluster that outlives its step', { skip: withoutKubectl }, async (t) => {
  const { status, output, variables, outputs } = runStep(t, { nodes: '2', flags: '-v 1 --controllers=*' })
  assert.equal(status, 0, output)
  const pid = Number(outputs.pid)
  t.after(() => isRunning(pid) && process.kill(pid, 'SIGKILL'))
  assert.deepEqual(Object.keys(outputs), Object.keys(action.outputs))
  assert.equal(variables.KUBECONFIG, outputs.kubeconfig)
  await waitFor(
    'two nodes',
    () => kubectl(variables.KUBECONFIG!, 'get', 'nodes', '-o', 'name').stdout.match(/\n/g)?.length === 2,
  )
  assert.match(readFileSync(outputs.log!, 'utf8'), /^200 LIST \/api\/v1\/nodes/m)
  process.kill(pid, 'SIGTERM')
  await waitFor('the end of the cluster', () => !isRunning(pid))
})

test('wrong inputs, and a cluster that does not start, are errors of the workflow', (t) => {
  const nodes = runStep(t, { nodes: '2; reboot' })
  assert.deepEqual([nodes.status, nodes.output.includes('::error title=Typernetes::nodes must be a number')], [1, true])
  assert.match(runStep(t, { version: 'file:../x' }).output, /::error title=Typernetes::version must be/)
  const failed = runStep(t, { flags: '--no-such-flag' })
  assert.equal(failed.status, 1)
  assert.match(
    failed.output,
    /t8s: unknown option '--no-such-flag'[\s\S]*::error title=Typernetes::the cluster did not/,
  )
})
