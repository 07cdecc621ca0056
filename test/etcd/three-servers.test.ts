/** Carries out docs/three-servers.md as a new user would. Needs root, etcd and haproxy. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { consoleCommands } from '../readme/console-blocks.ts'
import { Shell } from '../readme/shell.ts'
import { faultsOf } from '../readme/walk.ts'
import { repository, temporaryFolder } from '../up/t8s-process.ts'

await inNamespaces(import.meta.filename, () => {
  execFileSync('ip', ['link', 'set', 'lo', 'up'])
  test('the commands of docs/three-servers.md print the documented output', { timeout: 300_000 }, async (t) => {
    const folder = temporaryFolder(t)
    const shell = new Shell(t, folder)
    symlinkSync(join(repository, 't8s'), join(folder, 't8s'))
    const commands = consoleCommands(readFileSync(join(repository, 'docs/three-servers.md'), 'utf8'))
    assert.ok(commands.length >= 20, `${commands.length} commands`)
    const faults = await faultsOf(shell, 'docs/three-servers.md', commands)
    if (faults.length > 0) assert.fail(faults.join('\n\n'))
  })
})
