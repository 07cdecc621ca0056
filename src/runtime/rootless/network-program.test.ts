import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findNetworkProgram, networkArguments, resolverConfiguration } from './network-program.ts'

test('slirp4netns comes before pasta, and files that cannot be run do not count', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-programs-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = `/nowhere:${folder}`
  assert.equal(findNetworkProgram(path), undefined)
  for (const name of ['slirp4netns', 'pasta']) writeFileSync(join(folder, name), '')
  assert.equal(findNetworkProgram(path), undefined)
  chmodSync(join(folder, 'pasta'), 0o755)
  assert.equal(findNetworkProgram(path), 'pasta')
  chmodSync(join(folder, 'slirp4netns'), 0o755)
  assert.equal(findNetworkProgram(path), 'slirp4netns')
})

test('neither program reaches loopback addresses of the machine', () => {
  assert.ok(networkArguments('slirp4netns', 7).includes('--disable-host-loopback'))
  assert.ok(networkArguments('pasta', 7).includes('--no-map-gw'))
  for (const program of ['slirp4netns', 'pasta'] as const) assert.ok(networkArguments(program, 7).includes('7'))
})

test('names are resolved by the program of the network, in the domains of the machine', () => {
  assert.equal(
    resolverConfiguration('# systemd\nnameserver 127.0.0.53\noptions edns0\nsearch example.org\n'),
    'nameserver 10.0.2.3\noptions edns0\nsearch example.org\n',
  )
})
