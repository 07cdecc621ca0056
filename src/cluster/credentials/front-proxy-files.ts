/**
 * The user's own front proxies (`--requestheader-…`) and the client certificate for aggregated APIs
 * (`--proxy-client-…`), read and verified before the start.
 */
import { defaultHeaders, type RequestHeaderOptions } from '../../apiserver/authentication/request-header.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import { type PairFlags, readAuthorities, readKeyPair } from './identity-files.ts'

/** Paths and names from the flags of the same names. */
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

/** Their content, for `startCluster`. */
interface FrontProxyIdentity {
  readonly requestHeader?: RequestHeaderOptions
  readonly proxyClient?: KeyPair
}

const clientFlags: PairFlags = { cert: '--proxy-client-cert-file', key: '--proxy-client-key-file' }

/** Reads the given files. Throws an ExplainedError that names the file and the flag. */
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
          // No default: a proxy older than this header passes it on from its clients.
          uidHeaders: given.requestheaderUidHeaders ?? [],
          groupHeaders: given.requestheaderGroupHeaders ?? defaultHeaders.groupHeaders,
          extraHeadersPrefix: given.requestheaderExtraHeadersPrefix ?? defaultHeaders.extraHeadersPrefix,
        }
      : undefined,
    proxyClient: cert && key ? readKeyPair(cert, key, clientFlags, now) : undefined,
  }
}
