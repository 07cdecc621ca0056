/** Pulls images by the engine. */
import type { AuthConfig } from '#protobuf/cri-images_pb.js'
import { type DockerEngine, isMissing, jsonLines } from '../../../lib/docker-engine/index.ts'
import { RpcError } from '../../../lib/grpc/grpc-error.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { parseImageName } from '../../../node/images/image-name.ts'
import { loginOf } from '../../cri/registry-login.ts'

/** Rejects with NotFound if the registry has no such image. */
export async function pullImage(
  engine: DockerEngine,
  name: string,
  auth: AuthConfig | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { repository, tag, digest } = parseImageName(name)
  try {
    const progress = await engine.stream({
      method: 'POST',
      path: '/images/create',
      query: { fromImage: repository, tag: digest || tag },
      headers: loginHeader(auth),
      signal,
    })
    for await (const { error } of jsonLines<{ readonly error?: string }>(progress)) if (error) throw new Error(error)
  } catch (error) {
    const message = messageOf(error)
    const isUnknown =
      isMissing(error) || /manifest unknown|name unknown|not found|does not exist|HTTP 404/.test(message)
    throw new RpcError(isUnknown ? 'NotFound' : 'Unknown', `failed to pull image ${JSON.stringify(name)}: ${message}`, {
      cause: error,
    })
  }
}

/** The login, which the engine passes to the registry. */
function loginHeader(auth: AuthConfig | undefined): Record<string, string> {
  const login = loginOf(auth)
  if (!auth || !login) return {}
  const { username, password, identityToken, registryToken } = login
  const fields = {
    ...{ username, password, serveraddress: auth.serverAddress },
    ...(identityToken && { identitytoken: identityToken }),
    ...(registryToken && { registrytoken: registryToken }),
  }
  // Engines ignore a value without padding.
  const text = Buffer.from(JSON.stringify(fields)).toString('base64')
  return { 'x-registry-auth': text.replaceAll('+', '-').replaceAll('/', '_') }
}
