import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { certificateOf, type KeyPair } from './key-pair.ts'
import { selfSignedServingCertificate } from './serving-certificate.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const dayMs = 24 * 3600 * 1000

/** Starts a kubelet's certificate at a time and resolves with its first pair. */
async function firstPair(t: TestContext, pkiFolder: string, now: number, lines: string[] = []): Promise<KeyPair> {
  const first = Promise.withResolvers<KeyPair>()
  const managed = selfSignedServingCertificate({
    pkiFolder,
    nodeName: 'n1',
    hosts: () => ['10.0.0.1'],
    log: (line) => lines.push(line),
    now: () => now,
    random: () => 0.5,
    schedule: () => () => {},
    changed: first.resolve,
  })
  t.after(() => managed.stop())
  managed.start()
  return first.promise
}

function pkiFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-serving-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'pki')
}

test('a certificate that the kubelet signs itself stays the same over restarts', async (t) => {
  const folder = pkiFolder(t)
  const pair = await firstPair(t, folder, start)
  assert.equal(readFileSync(join(folder, 'kubelet.crt'), 'utf8'), pair.cert)
  assert.equal(statSync(join(folder, 'kubelet.crt')).mode & 0o777, 0o644)
  assert.equal(statSync(join(folder, 'kubelet.key')).mode & 0o777, 0o600)
  assert.deepEqual(await firstPair(t, folder, start + dayMs), pair)
})

test('a key that does not belong to the certificate is replaced, and never logged', async (t) => {
  const folder = pkiFolder(t)
  const pair = await firstPair(t, folder, start)
  const other = await firstPair(t, pkiFolder(t), start)
  writeFileSync(join(folder, 'kubelet.key'), other.key)
  const lines: string[] = []
  const next = await firstPair(t, folder, start, lines)
  assert.notEqual(certificateOf(next).fingerprint256, certificateOf(pair).fingerprint256)
  assert.match(lines.join(), /kubelet\.crt is no certificate for .*kubelet\.key/)
  assert.ok(!lines.join().includes('PRIVATE'))
})
