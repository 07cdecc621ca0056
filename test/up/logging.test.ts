/** Tests of `--logging-format`: log lines in the formats of Kubernetes' programs. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, repository, t8s, temporaryFolder, up, withoutKubectl } from './t8s-process.ts'

const header = /^[IWE](\d{4}) \d\d:\d\d:\d\d\.\d{6} [ \d]{6}\d [\w.-]+\.js:\d+\] /

/** Runs a program until a line of its output matches. */
async function output(
  t: TestContext,
  args: readonly string[],
  until: RegExp,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const child = spawn(join(repository, 't8s'), args, { cwd: temporaryFolder(t), stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text))
  await waitFor(`${until}`, () => until.test(`${texts.stdout}\n${texts.stderr}`) || child.exitCode !== null)
  return texts
}

const lines = (text: string): string[] => text.trim().split('\n')

test('--logging-format=text logs lines with the header of klog', async (t) => {
  const { stderr } = await output(t, ['apiserver', '--secure-port=0', '--logging-format=text', '-v=1'], /serving on/)
  for (const line of lines(stderr)) assert.match(line, header)
  assert.match(stderr, /^W.*\] Skipping API storage\.k8s\.io\/v1beta1 because it has no resources\.$/m)
  assert.match(stderr, /^I.*\] serving on https:/m)
  const now = new Date()
  assert.equal(header.exec(stderr)![1], `${now.getMonth() + 1}`.padStart(2, '0') + `${now.getDate()}`.padStart(2, '0'))
})

test('--logging-format=json logs JSON', async (t) => {
  const { stderr } = await output(t, ['apiserver', '--secure-port=0', '--logging-format=json', '-v=1'], /serving on/)
  const entries = lines(stderr).map(
    (line) => JSON.parse(line) as { ts: number; caller: string; msg: string; v: number },
  )
  for (const { ts, caller, v } of entries) {
    assert.ok(Math.abs(ts - Date.now()) < 3600_000)
    assert.match(caller, /^[\w.-]+\.js:\d+$/)
    assert.equal(v, 0)
  }
  assert.ok(entries.some(({ msg }) => msg === 'Skipping API storage.k8s.io/v1beta1 because it has no resources.'))
})

test('t8s up prints its steps to stdout and logs to stderr', async (t) => {
  const { stdout, stderr } = await output(
    t,
    ['up', '--nodes=0', '--secure-port=0', '--logging-format=text', '-v=1'],
    /^Ctrl-C stops it$/m,
  )
  assert.match(stdout, /^data in /)
  assert.doesNotMatch(stdout, /Skipping/)
  for (const line of lines(stderr)) assert.match(line, header)
  assert.match(stderr, /\] certificates created in /)
  assert.match(stderr, /^W.*\] Skipping API /m)
})

test('without the flag the log has plain lines', async (t) => {
  const { stderr } = await output(t, ['apiserver', '--secure-port=0'], /serving on/)
  assert.match(stderr, /^serving on https:\/\/127\.0\.0\.1:\d+$/m)
  assert.doesNotMatch(stderr, /Skipping/)
})

test('-v shows requests of users, and the events of a watch', { skip: withoutKubectl }, async (t) => {
  const { output, kubeconfig } = await up(t, ['--secure-port=0', `--data-dir=${temporaryFolder(t)}`, '-v'])
  assert.equal(kubectl(kubeconfig, 'get', 'namespace', 'missing').code, 1)
  kubectl(kubeconfig, 'get', '--raw', '/api/v1/namespaces?watch=true&timeoutSeconds=1')
  const watch = /^200 WATCH \/api\/v1\/namespaces\?\S*watch=true\S* kubectl\/\S+ [\d.]+ m?s, [1-9] events$/m
  await waitFor(`${watch}`, () => watch.test(output()))
  assert.match(output(), /^404 GET \/api\/v1\/namespaces\/missing kubectl\/v1\.\d+\.\d+ [\d.]+ ms$/m)
  assert.doesNotMatch(output(), /kube-controller-manager/)
})

test('an unknown format is an error of every component', (t) => {
  const cwd = temporaryFolder(t)
  const message = /format: Invalid value: "xml": Unsupported log format/
  for (const command of ['apiserver', 'controller-manager', 'up']) {
    const { code, stderr } = t8s([command, '--logging-format=xml'], { cwd })
    assert.equal(code, 1, command)
    assert.match(stderr, message, command)
  }
  const { code, stderr } = t8s(['scheduler', '--logging-format=xml'], { cwd })
  assert.equal(code, 1)
  assert.match(stderr, /--logging-format.*'xml' is invalid.*text, json/)
})
