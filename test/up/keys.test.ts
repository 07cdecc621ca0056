/** The key line of `t8s up`, on a terminal (tmux). */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { testTerminal, withoutTmux } from '../config/tmux.ts'
import { waitFor } from '../support/wait-for.ts'
import { repository, temporaryFolder } from './t8s-process.ts'

test('keys of t8s up show the cluster, and the terminal is restored', { skip: withoutTmux }, async (t) => {
  const folder = temporaryFolder(t)
  const terminal = await testTerminal(t, { folder, environment: process.env })
  const flags = `--node-type=simulated --nodes=2 --secure-port=0 --data-dir=${folder}/t8s`
  const command = `${join(repository, 't8s')} up ${flags}`
  terminal.types(`clear; ${command}; echo "ended with $?"`)
  terminal.presses('Enter')
  await terminal.shows(/^keys: n nodes, e events, c clear, \? help, q quit$/m)
  const nodes = /^NAME +STATUS +PODS\nnode-\d +Ready +0\nnode-\d +Ready +0$/m
  await waitFor('two nodes', () => {
    terminal.types('n')
    return nodes.test(terminal.screen())
  })
  terminal.types('e')
  await terminal.shows(/^AGE +TYPE +REASON +OBJECT +MESSAGE\n\d+s +Normal +\S+ +node\/node-/m)
  terminal.types('c')
  await terminal.shows(/^keys: [^\n]*$/)
  terminal.types('?')
  await terminal.shows(/^ {2}q {2}stop the cluster, as Ctrl-C does; Ctrl-Z suspends it$/m)

  terminal.presses('C-z')
  await terminal.shows(/ready\$$/)
  terminal.types('clear; stty -a | grep -o " icanon"')
  terminal.presses('Enter')
  await terminal.shows(/^ icanon$/m)
  terminal.types('clear; fg')
  terminal.presses('Enter')
  await terminal.shows(/^\S*t8s up[^\n]*\nkeys: n nodes/m)
  terminal.types('n')
  await terminal.shows(/^node-\d +Ready/m)
  terminal.types('q')
  await terminal.shows(/^stopping after SIGINT[\s\S]*^stopped\n/m)
  await terminal.shows(/ready\$$/)
  assert.match(await terminal.runs('stty -a | grep -o " icanon"'), /^ icanon$/m)
})
