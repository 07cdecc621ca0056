/** The flags about who somebody is: `--client-ca-file`, `--token-auth-file`, `--requestheader-…`, `--service-account-…`. */
import { join, resolve } from 'node:path'
import type { AuthenticationOptions } from '../../apiserver/authentication/index.ts'
import type { ServiceAccountIssuer } from '../../apiserver/openid.ts'
import { readFrontProxy } from '../front-proxy-files.ts'
import { readIdentity } from '../identity-files.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import { serviceAccountKey } from '../pki/pki.ts'
import { readSigningKey, readVerificationKeys, usualIssuer } from '../service-account-keys.ts'
import { type FlagPlace, pathOf } from './flag-place.ts'

/** Only what flags say is in it. Throws an ExplainedError for files that cannot be read. */
export function authenticationOptions(place: FlagPlace): AuthenticationOptions & { readonly proxyClient?: KeyPair } {
  const { flags } = place
  const { tokens, clientCA } = readIdentity({ tokenAuthFile: pathOf(place, 'token-auth-file'), clientCaFile: pathOf(place, 'client-ca-file') })
  const { requestHeader, proxyClient } = readFrontProxy({
    requestheaderClientCaFile: pathOf(place, 'requestheader-client-ca-file'),
    requestheaderAllowedNames: flags.list('requestheader-allowed-names'),
    requestheaderUsernameHeaders: flags.list('requestheader-username-headers'),
    requestheaderUidHeaders: flags.list('requestheader-uid-headers'),
    requestheaderGroupHeaders: flags.list('requestheader-group-headers'),
    requestheaderExtraHeadersPrefix: flags.list('requestheader-extra-headers-prefix'),
    proxyClientCertFile: pathOf(place, 'proxy-client-cert-file'),
    proxyClientKeyFile: pathOf(place, 'proxy-client-key-file'),
  })
  // As upstream: where everybody may do everything, they have to say who they are.
  const anonymousAuth = flags.list('authorization-mode')?.includes('AlwaysAllow') ? false : flags.bool('anonymous-auth')
  return {
    ...(tokens && { tokens }),
    ...(clientCA && { clientCA }),
    ...(requestHeader && { requestHeader }),
    ...(proxyClient && { proxyClient }),
    ...(anonymousAuth !== undefined && { anonymousAuth }),
  }
}

/** The issuer of service account tokens as flags say; with a key made here where they name none. */
export function serviceAccountIssuer(place: FlagPlace): ServiceAccountIssuer {
  const { flags, cwd, directory } = place
  const file = pathOf(place, 'service-account-signing-key-file')
  const key = file ? readSigningKey(file) : undefined
  const files = flags.list('service-account-key-file')?.map((name) => resolve(cwd, name))
  return {
    issuer: flags.list('service-account-issuer')?.[0] ?? usualIssuer,
    signingKey: key ? async () => key : serviceAccountKey(directory && join(directory, 'pki')),
    verificationKeys: files ? readVerificationKeys(files) : undefined,
  }
}
