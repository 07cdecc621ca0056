/**
 * Front proxies of the user's own (`--requestheader-…`), and the certificate of this one (`--proxy-client-…`): read and
 * checked before the start.
 */
import { defaultHeaders, type RequestHeaderOptions } from '../../apiserver/authentication/request-header.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import { type PairFlags, readAuthorities, readKeyPair } from './identity-files.ts'

/** Paths and names, as the flags of the same names give them. */
export interface FrontProxyFiles {
  readonly requestheaderClientCaFile?: string
  readonly requestheaderAllowedNames?: readonly string[]
  readonly requestheaderUsernameHeaders?: readonly string[]
  readonly requestheaderUidHeaders?: readonly string[]
  readonly requestheaderGroupHeaders?: readonly string[]
  readonly requestheaderExtraHeadersPrefix?: readonly string[]
  readonly proxyClientCertFile?: string
  readonly proxyClientKeyFile?: string
}

/** What they say, for `startCluster`. */
interface FrontProxyIdentity {
  readonly requestHeader?: RequestHeaderOptions
  readonly proxyClient?: KeyPair
}

const clientFlags: PairFlags = { cert: '--proxy-client-cert-file', key: '--proxy-client-key-file' }

/** Reads the files that are given. Throws an ExplainedError that names the file and the flag. */
export function readFrontProxy(given: FrontProxyFiles, now = new Date()): FrontProxyIdentity {
  const { requestheaderClientCaFile: authorities, proxyClientCertFile: cert, proxyClientKeyFile: key } = given
  if (!cert !== !key)
    throw new ExplainedError(`${clientFlags.cert} and ${clientFlags.key} go together: give both or neither`)
  return {
    requestHeader: authorities
      ? {
          clientCA: readAuthorities(authorities, '--requestheader-client-ca-file'),
          allowedNames: given.requestheaderAllowedNames ?? [],
          usernameHeaders: given.requestheaderUsernameHeaders ?? defaultHeaders.usernameHeaders,
          // No usual name: a proxy from before there was one passes on what its clients send under it.
          uidHeaders: given.requestheaderUidHeaders ?? [],
          groupHeaders: given.requestheaderGroupHeaders ?? defaultHeaders.groupHeaders,
          extraHeadersPrefix: given.requestheaderExtraHeadersPrefix ?? defaultHeaders.extraHeadersPrefix,
        }
      : undefined,
    proxyClient: cert && key ? readKeyPair(cert, key, clientFlags, now) : undefined,
  }
}
