/**
 * The serving certificate in `--cert-dir`. If it is missing, one is created and signed by a temporary authority, as
 * upstream does.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { makeDirectory } from '../../lib/files/make-directory.ts'
import { issueCertificate, makeAuthority } from '../../lib/x509/certificates.ts'
import type { KeyPair } from './key-pair.ts'

/**
 * Reads `apiserver.crt` and `apiserver.key` in a directory, and creates them for `hosts` if either is missing. Throws
 * an ExplainedError that names the directory.
 */
export async function certDirPair(directory: string, hosts: readonly string[], now = new Date()): Promise<KeyPair> {
  const [certFile, keyFile] = [join(directory, 'apiserver.crt'), join(directory, 'apiserver.key')]
  try {
    if (existsSync(certFile) && existsSync(keyFile))
      return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
    const pair = await selfSignedPair('kube-apiserver', hosts, now)
    makeDirectory(directory, 0o700)
    writeFileAtomically(keyFile, pair.key, 0o600)
    writeFileAtomically(certFile, pair.cert, 0o644)
    return pair
  } catch (error) {
    throw new ExplainedError(
      `cannot store a certificate in ${directory}: ${reasonOf(error)}; choose another directory with --cert-dir`,
      { cause: error },
    )
  }
}

/** Creates a serving certificate for `hosts`, followed by the authority that signed it. */
export async function selfSignedPair(commonName: string, hosts: readonly string[], now = new Date()): Promise<KeyPair> {
  const authority = await makeAuthority(`${hosts[0]}-ca@${Math.floor(now.getTime() / 1000)}`, now)
  const { cert, key } = await issueCertificate(authority, { commonName, usage: 'server', hosts }, now)
  return { cert: cert + authority.cert, key }
}
