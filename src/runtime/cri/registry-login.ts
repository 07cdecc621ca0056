/** Logins of registries that kubelets send with pulls. */
import type { AuthConfig } from '#protobuf/cri-images_pb.js'
import type { RegistryLogin } from '../images/index.ts'

/** Undefined for anonymous pulls. */
export function loginOf(auth: AuthConfig | undefined): RegistryLogin | undefined {
  if (!auth) return undefined
  const { identityToken, registryToken } = auth
  const [decodedUser = '', ...decodedPassword] = Buffer.from(auth.auth, 'base64').toString().split(':')
  const username = auth.username || decodedUser
  const password = auth.password || decodedPassword.join(':').replace(/\0+$/, '')
  if (!username && !identityToken && !registryToken) return undefined
  return { username, password, ...(identityToken && { identityToken }), ...(registryToken && { registryToken }) }
}
