import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OutputMatcher } from './output-matcher.ts'

const fixed = '12:07:6b:be:20:d2'
const [one, two] = ['76:cb:15:06:92:87', 'c2:f4:4b:6f:65:d4']

test('times and the width of columns may differ', () => {
  const matcher = new OutputMatcher([])
  assert.ok(
    matcher.matches(
      ['64 bytes: time=0.081 ms', 'rtt = 0.08/0.09/0.1 ms'],
      ['64  bytes: time=2 ms', 'rtt = 1.2/3.4/5.6 ms'],
    ),
  )
  assert.ok(matcher.matches(['12:00:01.000001 ARP'], ['23:59:59.5 ARP', '']))
  assert.ok(!matcher.matches(['64 bytes'], ['65 bytes']))
})

test('a hardware address stands for the same one on the whole page', () => {
  const matcher = new OutputMatcher([])
  assert.ok(matcher.matches([`is at ${one}`], [`is at ${two}`]))
  assert.ok(!matcher.matches([`is at ${one}`], [`is at ${fixed}`]))
  assert.ok(!matcher.matches([`is at ${fixed}`], [`is at ${two}`]))
  assert.ok(matcher.matches([`from ${one}`], [`from ${two}`]))
})

test('a hardware address in a command is that address in the output', () => {
  const matcher = new OutputMatcher([`ip link set c3 address ${fixed}`])
  assert.ok(matcher.matches([`is at ${fixed}`], [`is at ${fixed}`]))
  assert.ok(!matcher.matches([`is at ${fixed}`], [`is at ${one}`]))
  assert.ok(!matcher.matches([`is at ${one}`], [`is at ${fixed}`]))
})

test('an ellipsis stands for any text, or for any lines', () => {
  const matcher = new OutputMatcher([])
  assert.ok(matcher.matches(['chain …', '…', 'end'], ['chain a b', `x ${one}`, 'y', 'end']))
  assert.ok(matcher.matches(['…'], []))
  assert.ok(!matcher.matches(['…', 'end'], ['start']))
})

test('a page names further parts that vary', () => {
  const matcher = new OutputMatcher([], [String.raw`\bport (\d+)`])
  assert.ok(matcher.matches(['port 1234 is open'], ['port 99 is open']))
  assert.ok(!matcher.matches(['port 1234 is open'], ['port x is open']))
})
