/** `tlsMinVersion` and `tlsCipherSuites` of a kubelet, for Node's server. */
import { ExplainedError } from '../../lib/explained-error.ts'
import type { TlsLimits } from '../../node/server/kubelet-server.ts'
import { isKnownSuite, minVersions, openSslName } from '../serving-options/listener/tls-names.ts'

/** They are not configurable, and without them in the list TLS 1.3 is off. */
const suitesOf13 = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256']

/** Throws an ExplainedError with upstream's words for unknown versions and suites. */
export function tlsLimits(version = '', suites: readonly string[] = []): TlsLimits {
  if (version !== '' && !Object.hasOwn(minVersions, version))
    throw new ExplainedError(`unknown tls version ${JSON.stringify(version)}`)
  const unknown = suites.find((suite) => !isKnownSuite(suite))
  if (unknown) throw new ExplainedError(`Cipher suite ${unknown} not supported or doesn't exist`)
  const of12 = suites.map(openSslName).filter((suite) => !suite.startsWith('TLS_'))
  return {
    ...(version && { minVersion: minVersions[version] }),
    ...(of12.length > 0 && { ciphers: [...suitesOf13, ...of12].join(':') }),
  }
}
