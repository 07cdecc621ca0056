import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitationsOf } from './limitations.ts'

test('one sentence names what is weaker without root', () => {
  assert.equal(
    limitationsOf({ hasIdRanges: true, hasNetwork: true, firstPort: 1024 }),
    'runs without root, in a user namespace: pods have no limits of CPU and memory, host ports are TCP ports from ' +
      "1024 of this machine's loopback address and all pods end with this process",
  )
})

test('missing programs are named with the way to get them', () => {
  const sentence = limitationsOf({ hasIdRanges: false, hasNetwork: false, firstPort: 80 })
  assert.match(sentence, /ports from 80 .*no user but root \(apt-get install uidmap, .*slirp4netns\)$/)
})
