/** An authorization webhook in a separate process, and kubeconfigs for it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueCertificate, makeAuthority } from '../../../src/lib/x509/certificates.ts'
import { askedProcess } from '../../support/asked-process.ts'
import type { Lifetime } from '../../support/reachable-cluster.ts'
import type { Manner, Seen } from './webhook-process.ts'

export interface AuthorizationWebhook {
  readonly folder: string
  /** Writes a kubeconfig; `user` has its credentials. */
  kubeconfig(user?: object, ca?: 'its own' | 'another'): string
  answers(manner: Manner): Promise<void>
  /** Returns the reviews since the last call, except those of system users. */
  seen(): Promise<readonly Seen[]>
  /** A client certificate that it trusts, in the form of a kubeconfig's user. */
  readonly clientCertificate: object
  stop(): Promise<void>
}

/** Starts the process. It ends with the test at the latest. */
export async function authorizationWebhook(
  t: Lifetime,
  { asksForCertificates = false } = {},
): Promise<AuthorizationWebhook> {
  const now = new Date()
  const [authority, other] = await Promise.all([makeAuthority('webhook-ca', now), makeAuthority('other-ca', now)])
  const serving = await issueCertificate(
    authority,
    { commonName: 'authorizer', usage: 'server', hosts: ['127.0.0.1'] },
    now,
  )
  const client = await issueCertificate(authority, { commonName: 'api-server', usage: 'client' }, now)
  const folder = mkdtempSync(join(tmpdir(), 'typernetes-webhook-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { ask, stop } = askedProcess(t, join(import.meta.dirname, 'webhook-process.ts'))
  const { port } = await ask<{ port: number }>({
    start: { serving, ...(asksForCertificates && { clientCA: authority.cert }) },
  })
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  let files = 0
  return {
    folder,
    clientCertificate: { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(client.key) },
    kubeconfig(user = {}, ca = 'its own') {
      const file = join(folder, `kubeconfig-${++files}`)
      const cluster = {
        server: `https://127.0.0.1:${port}/authorize`,
        'certificate-authority-data': base64((ca === 'another' ? other : authority).cert),
      }
      const config = {
        clusters: [{ name: 'webhook', cluster }],
        users: [{ name: 'server', user }],
        contexts: [{ name: 'c', context: { cluster: 'webhook', user: 'server' } }],
        'current-context': 'c',
      }
      writeFileSync(file, JSON.stringify(config))
      return file
    },
    answers: async (manner) => void (await ask({ manner })),
    seen: async () => (await ask<{ seen: Seen[] }>({ seen: true })).seen,
    stop,
  }
}
