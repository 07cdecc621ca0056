/** The GitHub action: its step, run as a runner does, with the files for variables and outputs. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
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
function runStep(t: TestContext, inputs: Readonly<Record<string, string>>) {
  const folder = temporaryFolder(t)
  const files = {
    GITHUB_ENV: join(folder, 'env'),
    GITHUB_OUTPUT: join(folder, 'output'),
    GITHUB_PATH: join(folder, 'path'),
  }
  const given = Object.entries(step.env).map(([name, value]) => {
    const [, input = ''] = /^\$\{\{ inputs\.(\S+) \}\}$/.exec(value) ?? []
    return [name, inputs[input] ?? action.inputs[input]!.default] as const
  })
  const env = {
    ...process.env,
    ...files,
    ...Object.fromEntries(given),
    GITHUB_ACTION_PATH: repository,
    KUBECONFIG: join(folder, 'config'),
    RUNNER_TEMP: folder,
    T8S_PROGRAM: join(repository, 't8s'),
    XDG_STATE_HOME: folder,
  }
  const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', step.run], { env, encoding: 'utf8', timeout: 90_000 })
  /** A later step of the workflow. */
  const t8s = (...args: readonly string[]): string =>
    execFileSync('sh', ['-c', 't8s "$@"', 'sh', ...args], {
      env: { ...env, PATH: `${readFileSync(files.GITHUB_PATH, 'utf8').trim()}:${process.env.PATH}` },
      encoding: 'utf8',
    })
  const values = (file: string): Readonly<Record<string, string>> => {
    if (status !== 0) return {}
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)))
  }
  const [variables, outputs] = [values(files.GITHUB_ENV), values(files.GITHUB_OUTPUT)]
  if (outputs.pid) t.after(() => endIfRunning(Number(outputs.pid)))
  return { status, output: stdout + stderr, variables, outputs, t8s }
}

/** After a test that failed. */
function endIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

test('the action starts a cluster that outlives its step', { skip: withoutKubectl }, async (t) => {
  const { status, output, variables, outputs, t8s } = runStep(t, { nodes: '2', flags: '-v 1 --controllers=*' })
  assert.equal(status, 0, output)
  assert.deepEqual(Object.keys(outputs), Object.keys(action.outputs))
  assert.equal(variables.KUBECONFIG, outputs.kubeconfig)
  await waitFor(
    'two nodes',
    () => kubectl(variables.KUBECONFIG!, 'get', 'nodes', '-o', 'name').stdout.match(/\n/g)?.length === 2,
  )
  assert.match(readFileSync(outputs.log!, 'utf8'), /^200 LIST \/api\/v1\/nodes/m)
  assert.match(t8s('status'), new RegExp(`^default runs on ${outputs.url} \\(pid ${outputs.pid}\\)$`, 'm'))
  assert.equal(t8s('down', '--name', outputs.name!), 'default stopped\n')
})

test('a configuration describes the cluster, and a name gives it a context', { skip: withoutKubectl }, (t) => {
  const config = join(temporaryFolder(t), 'cluster.yaml')
  const document = { apiVersion: 't8s.dev/v1alpha1', kind: 'ClusterConfiguration', nodes: 0 }
  writeFileSync(config, JSON.stringify(document))
  const { status, output, outputs, t8s } = runStep(t, { config, name: 'dev' })
  assert.equal(status, 0, output)
  assert.match(output, /kubectl --context typernetes-dev get nodes/)
  assert.equal(kubectl(outputs.kubeconfig!, 'get', 'nodes', '-o', 'name').stdout, '')
  assert.equal(t8s('down', '--name', 'dev', '--delete'), 'dev stopped\n')
})

test('wrong inputs, and a cluster that does not start, are errors of the workflow', (t) => {
  const nodes = runStep(t, { nodes: '2; reboot' })
  assert.deepEqual([nodes.status, nodes.output.includes('::error title=Typernetes::nodes must be a number')], [1, true])
  assert.match(runStep(t, { version: 'file:../x' }).output, /::error title=Typernetes::version must be/)
  assert.match(runStep(t, { name: 'a b' }).output, /t8s: .*'a b'[\s\S]*::error title=Typernetes::the cluster did not/)
  const failed = runStep(t, { flags: '--no-such-flag' })
  assert.equal(failed.status, 1)
  assert.match(
    failed.output,
    /t8s: unknown option '--no-such-flag'[\s\S]*::error title=Typernetes::the cluster did not/,
  )
})
