import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ExecPlugin, runExecPlugin } from './exec-plugin.ts'

const plugin = (more: Partial<ExecPlugin>): ExecPlugin => ({
  apiVersion: 'client.authentication.k8s.io/v1',
  command: 'sh',
  args: [],
  env: {},
  ...more,
})

test('the error of a failed exec plugin contains its output', async () => {
  await assert.rejects(runExecPlugin(plugin({ args: ['-c', 'echo no luck >&2; exit 3'] })), ({ message }: Error) => {
    assert.match(message, /^sh, which the kubeconfig names, returned no credentials: Command failed: [\s\S]*no luck$/)
    return true
  })
})

test('the error of a missing exec plugin contains the installHint', async () => {
  const missing = plugin({ command: 'no-such-program', installHint: 'install it from there\n' })
  await assert.rejects(
    runExecPlugin(missing),
    /^ExplainedError: no-such-program, .* no such file or directory; install it from there$/,
  )
})
