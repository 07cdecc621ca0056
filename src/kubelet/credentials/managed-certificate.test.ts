import assert from 'node:assert/strict'
import { lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CertificateStore } from './certificate-store.ts'
import { certificateOf, type KeyPair, selfSigned } from './key-pair.ts'
import { ManagedCertificate, renewalTime } from './managed-certificate.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const dayMs = 24 * 3600 * 1000

async function setUp(t: TestContext, renewals: (() => Promise<KeyPair | undefined>)[]) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-pki-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const store = new CertificateStore(join(folder, 'pki'), 'kubelet-client')
  const timers: { readonly callback: () => void; readonly ms: number }[] = []
  const waiting: (() => void)[] = []
  const lines: string[] = []
  const changes: KeyPair[] = []
  const clock = { now: start }
  const certificate = new ManagedCertificate({
    store,
    renew: () => renewals.shift()!(),
    changed: (pair) => changes.push(pair),
    log: (line) => lines.push(line),
    now: () => clock.now,
    random: () => 0.5,
    schedule(callback, ms) {
      timers.push({ callback, ms })
      waiting.shift()?.()
      return () => {}
    },
  })
  /** Resolves with the next timer. */
  const nextTimer = async () => {
    if (timers.length === 0) await new Promise<void>((resolve) => waiting.push(resolve))
    return timers.shift()!
  }
  return { folder, store, certificate, nextTimer, lines, changes, clock }
}

const pairAt = (ms: number): Promise<KeyPair> => selfSigned('node-1', ['10.0.0.1'], new Date(ms))

test('a certificate is stored for the kubelet only, and renewed at 70 to 90 % of its life', async (t) => {
  const [first, second] = [await pairAt(start), await pairAt(start + 300 * dayMs)]
  const { folder, certificate, nextTimer, changes, clock, store } = await setUp(t, [
    () => Promise.reject(new Error('the server is down')),
    async () => first,
    async () => second,
  ])
  certificate.start()
  const retry = await nextTimer()
  assert.equal(retry.ms, 2_000)
  retry.callback()
  ;(await nextTimer()).callback()
  assert.equal(certificate.current, first)
  assert.equal(statSync(store.currentPath).mode & 0o777, 0o600)
  assert.ok(lstatSync(store.currentPath).isSymbolicLink())
  assert.match(readlinkSync(store.currentPath), /kubelet-client-2026-01-01-00-00-00\.pem$/)
  assert.equal((await nextTimer()).ms, 2 ** 31 - 1)
  clock.now = start + 0.81 * 365 * dayMs
  const reloaded = store.load()!
  assert.equal(certificateOf(reloaded).fingerprint256, certificateOf(first).fingerprint256)
  certificate.stop()
  assert.equal(changes.length, 1)
  assert.equal(readdirSync(join(folder, 'pki')).length, 2)
})

test('a stored certificate is used, and renewed when its time has come', async (t) => {
  const [first, second] = [await pairAt(start), await pairAt(start + 300 * dayMs)]
  const { store, certificate, nextTimer, clock, changes } = await setUp(t, [async () => second])
  store.save(first, new Date(start))
  certificate.start()
  const { callback } = await nextTimer()
  clock.now = start + 0.81 * 365 * dayMs
  callback()
  await nextTimer()
  assert.equal(certificate.current, second)
  assert.equal(changes.length, 2)
})

test('messages about certificates never contain the key', async (t) => {
  const pair = await pairAt(start)
  const { store, certificate, nextTimer, lines } = await setUp(t, [async () => undefined])
  store.save(pair, new Date(start))
  writeFileSync(store.currentPath, `${pair.key}garbage`)
  certificate.start()
  await nextTimer()
  assert.match(
    lines[0]!,
    /^requesting a new certificate: .*kubelet-client-current\.pem has no certificate with its key$/,
  )
  assert.ok(!lines.join('').includes('PRIVATE KEY'))
})

test('renewals are spread over 70 to 90 % of the life', async () => {
  const pair = await pairAt(start)
  const { validFromDate, validToDate } = certificateOf(pair)
  const at = (part: number): number =>
    validFromDate.getTime() + part * (validToDate.getTime() - validFromDate.getTime())
  assert.ok(Math.abs(renewalTime(pair, 0) - at(0.7)) < 1)
  assert.ok(Math.abs(renewalTime(pair, 0.999) - at(0.8998)) < 1)
})

test('a self-signed certificate is for the node and its addresses', async () => {
  const pair = await pairAt(start)
  const certificate = certificateOf(pair)
  assert.equal(certificate.subject, `CN=node-1@${start / 1000}`)
  assert.equal(certificate.checkHost('node-1'), 'node-1')
  assert.equal(certificate.checkIP('10.0.0.1'), '10.0.0.1')
})
