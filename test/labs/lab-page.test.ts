import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labPage, withOutputs } from './lab-page.ts'

const page = '# Lab\n\n<!-- lab\nneeds: ip arp\nvaries: pid \\d+\n-->\n\n```console\n$ a\nold\n\n$ b\nkept\n```\n'

test('a page has commands, the programs that they need, and what varies', () => {
  const { commands, needs, varies } = labPage(page)
  assert.deepEqual([commands.map(({ command }) => command), needs, varies], [['a', 'b'], ['ip', 'arp'], ['pid \\d+']])
})

test('outputs of a run replace those of a page', () => {
  const { commands } = labPage(page)
  assert.equal(withOutputs(page, commands, [['new', 'lines'], undefined]), page.replace('old\n', 'new\nlines'))
})

test('a page without the comment, or with other lines in it, is an error', () => {
  assert.throws(() => labPage('```console\n$ a\n```\n'), /no comment/)
  assert.throws(() => labPage('<!-- lab\nroot: yes\n-->\n'), /root: yes/)
  assert.throws(() => labPage('<!-- lab\nneeds: ip\n-->\n'), /no ```console/)
})
