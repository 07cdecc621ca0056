/**
 * The package on a machine with nothing but Node and npm: typed at a terminal of 80 columns, as README.md begins. Needs
 * root. scripts/readme-walk.ts types all of README.md, and makes pictures.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { withoutTmux } from '../config/tmux.ts'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { bareMachine } from './bare-machine/machine.ts'
import { serveRegistry } from './bare-machine/registry.ts'
import { PersonAtTerminal } from './bare-machine/terminal.ts'

const columns = 80

await inNamespaces(import.meta.filename, () => {
  test('npm installs t8s on a bare machine, and its lines fit on a terminal', { skip: withoutTmux }, async (t) => {
    execFileSync('ip', ['link', 'set', 'lo', 'up'])
    const machine = bareMachine(t, { registry: await serveRegistry(t) })
    const person = new PersonAtTerminal(t, machine, { columns, rows: 24 })
    const printed = async (command: string, until?: string): Promise<string> => {
      const { output } = await person.types(command, { until, deadlineMs: 120_000 })
      // A prompt may stand before the output of a command in the background.
      const lines = output.map((line) => line.replace(/^\$ (?!kill|t8s|npm)/, '').trimEnd())
      const long = lines.filter((line) => line.length > columns)
      assert.deepEqual(long, [], command)
      return lines.join('\n')
    }
    assert.match(await printed('npm install --global typernetes'), /^added 2 packages in /m)
    const started = await printed('t8s up &', 'Ctrl-C stops it')
    assert.match(started, /^certificates created in \/home\/me\/\.t8s\/pki$/m)
    assert.match(started, /^node: simulated, because t8s runs without root\b/m)
    assert.match(started, /^ready in \d+ ms\n\n {2}export KUBECONFIG=\/home\/me\/\.t8s\/kubeconfig$/m)
    // Keys reach the shell.
    assert.doesNotMatch(started, /keys:/)
    assert.match(await printed('t8s --help'), /^Clusters:\n {2}up /m)
    assert.match(await printed('t8s list'), /^no clusters: t8s up --detach starts one$/m)
    assert.match(await printed('kill %1; wait; echo ended'), /^stopped\n[\s\S]*ended$/m)
  })
})
