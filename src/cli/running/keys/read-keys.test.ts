import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { groupsIn } from './foreground-group.ts'
import { type KeyProcess, readKeys } from './read-keys.ts'

/** A terminal and a process that record what happens to them. */
function fakes({ isTTY = true, isInForeground = true } = {}) {
  const notes: string[] = []
  const input = Object.assign(new EventEmitter(), {
    isTTY,
    setRawMode: (isRaw: boolean) => notes.push(isRaw ? 'raw' : 'cooked'),
    resume: () => notes.push('resume'),
    pause: () => notes.push('pause'),
  })
  const signals = new EventEmitter()
  let foreground = isInForeground
  const process: KeyProcess = {
    on: (event, listener) => signals.on(event, listener),
    off: (event, listener) => signals.off(event, listener),
    signal: (name, target) => notes.push(`${name} to ${target}`),
    isInForeground: () => foreground,
  }
  const actions = new Map([['n', () => notes.push('nodes')]].map(([key, act]) => [key as string, act as () => void]))
  const end = readKeys({ input, actions, onBegin: () => notes.push('begin'), process })
  const taken = (): string[] => notes.splice(0)
  return { input, signals, end, taken, moves: (value: boolean) => (foreground = value) }
}

const keys = (text: string): Buffer => Buffer.from(text, 'latin1')

test('keys call their actions, and arrows and others nothing', () => {
  const { input, end, taken } = fakes()
  assert.deepEqual(taken(), ['pause', 'raw', 'resume', 'begin'])
  for (const text of ['n', 'x', '\x1b[A', 'nn']) input.emit('data', keys(text))
  assert.deepEqual(taken(), ['nodes', 'nodes', 'nodes'])
  end()
  assert.deepEqual(taken(), ['cooked', 'pause'])
  end()
  input.emit('data', keys('n'))
  assert.deepEqual(taken(), [])
})

test('Ctrl-C interrupts, and Ctrl-Z restores the terminal until the process continues', () => {
  const { input, signals, taken } = fakes()
  taken()
  input.emit('data', keys('\x03'))
  assert.deepEqual(taken(), ['SIGINT to group'])
  input.emit('data', keys('\x1a'))
  assert.deepEqual(taken(), ['cooked', 'pause', 'SIGTSTP to group'])
  signals.emit('SIGCONT')
  assert.deepEqual(taken(), ['raw', 'resume', 'begin'])
  signals.emit('exit')
  assert.deepEqual(taken(), ['cooked', 'pause'])
})

test('the mode stays in the background, until the process is in the foreground', () => {
  const { signals, taken, moves } = fakes({ isInForeground: false })
  assert.deepEqual(taken(), ['pause'])
  signals.emit('SIGCONT')
  assert.deepEqual(taken(), [])
  moves(true)
  signals.emit('SIGCONT')
  assert.deepEqual(taken(), ['raw', 'resume', 'begin'])
})

test('the end of a terminal ends its keys', () => {
  const { input, signals, taken } = fakes()
  taken()
  input.emit('end')
  assert.deepEqual(taken(), ['cooked', 'pause'])
  signals.emit('SIGCONT')
  assert.deepEqual(taken(), [])
  fakes({ isTTY: false }).end()
})

test('process groups are read after a name with spaces', () => {
  assert.deepEqual(groupsIn('4711 (a (b) c) S 1 4700 4690 34816 4701 4194304 0'), [4700, 4701])
})
