/** Certificates created with openssl, in a folder of the test. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lifetime } from '../../support/test-cluster.ts'

export interface Pair {
  readonly cert: string
  readonly key: string
}

export interface Authority {
  /** PEM. */
  readonly cert: string
  readonly file: string
  /** `days` may be negative. An empty `usage` means no extended key usage. */
  readonly issue: (subject: string, options?: { readonly usage?: string; readonly days?: number }) => Pair
}

/** Certificate authorities that are deleted after the test. */
export function opensslFolder(t: Lifetime) {
  const folder = mkdtempSync(join(tmpdir(), 'openssl-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  // Object identifiers for which openssl has no name.
  const config = ['-config', join(folder, 'openssl.cnf')]
  writeFileSync(
    join(folder, 'openssl.cnf'),
    'oid_section = oids\n[oids]\nkubernetesUid = 1.3.6.1.4.1.57683.2\n[req]\ndistinguished_name = name\n[name]\n',
  )
  let count = 0
  const authority = (commonName: string): Authority => {
    const ca = `ca-${++count}`
    const constraints = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign']
    openssl(
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      `${ca}.key`,
      '-out',
      `${ca}.crt`,
      '-days',
      '3',
      '-subj',
      `/CN=${commonName}`,
      ...constraints,
    )
    const file = join(folder, `${ca}.crt`)
    return {
      cert: readFileSync(file, 'utf8'),
      file,
      issue: (subject, { usage = 'clientAuth', days = 1 } = {}) => {
        const name = `leaf-${++count}`
        openssl('req', ...config, ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', subject)
        writeFileSync(join(folder, `${name}.ext`), usage && `extendedKeyUsage=${usage}\n`)
        const signed = ['-CA', `${ca}.crt`, '-CAkey', `${ca}.key`, '-CAcreateserial', '-extfile', `${name}.ext`]
        openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.crt`, '-days', String(days), ...signed)
        return {
          cert: readFileSync(join(folder, `${name}.crt`), 'utf8'),
          key: readFileSync(join(folder, `${name}.key`), 'utf8'),
        }
      },
    }
  }
  return { folder, openssl, authority }
}
