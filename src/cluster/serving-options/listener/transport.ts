/** The TLS flags: versions, cipher suites, certificates by host name. */
import type { NamedPair, TransportOptions } from '../../../apiserver/http/secure/transport.ts'
import { type FlagValues, namedCertKey } from '../../../apiserver/serving-flags/index.ts'
import { followKeyPair } from '../../credentials/identity-files.ts'
import { absolute, type FlagContext } from '../flag-context.ts'
import { isKnownSuite, minVersions, openSslName } from './tls-names.ts'

/** Returns upstream's errors for invalid values; empty if there are none. */
export function transportErrors(flags: FlagValues): string[] {
  const version = flags.text('tls-min-version') ?? ''
  return [
    ...(version !== '' && !Object.hasOwn(minVersions, version)
      ? [`unknown tls version ${JSON.stringify(version)}`]
      : []),
    ...(flags.list('tls-cipher-suites') ?? []).flatMap((suite) =>
      isKnownSuite(suite) ? [] : [`Cipher suite ${suite} not supported or doesn't exist`],
    ),
  ]
}

/** Contains only what flags set. Throws an ExplainedError for files that cannot be read. */
export function transportOptions({ flags, cwd, log }: FlagContext): TransportOptions {
  const version = flags.text('tls-min-version')
  const suites = flags.list('tls-cipher-suites')
  const of12 = suites?.map(openSslName).filter((suite) => !suite.startsWith('TLS_'))
  return {
    ...(version && { minVersion: minVersions[version] }),
    ...(of12?.length && { ciphers: of12 }),
    ...(flags.bool('disable-http2-serving') && { withoutHttp2: true }),
    named: (flags.list('tls-sni-cert-key') ?? []).map((text): NamedPair => {
      const { certFile, keyFile, names } = namedCertKey(text)
      const both = { cert: '--tls-sni-cert-key', key: '--tls-sni-cert-key' }
      return { names, pair: followKeyPair(absolute(cwd, certFile) ?? '', absolute(cwd, keyFile) ?? '', both, log) }
    }),
  }
}
