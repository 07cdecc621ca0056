/** Asks a server for its version and the client's user, for `t8s config check`. */
import { Connection } from '../../../../client/connection/connection.ts'
import { kubeconfigAccess } from '../../../../client/connection/load-access.ts'
import { contextOf } from '../../../../kubeconfig/read-context.ts'
import { ExplainedError, reasonOf } from '../../../../lib/explained-error.ts'
import type { ContextOverview } from '../../../../tools/config/contexts/overview.ts'

export interface ServerAnswer {
  /** True if the server responds and accepts the credentials. */
  readonly ok: boolean
  readonly lines: readonly string[]
}

interface SelfSubjectReview {
  readonly status?: { readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] } }
}

/** Timeout of a request, in ms. */
const timeoutMs = 10_000
/** Versions of SelfSubjectReview, newest first (Kubernetes 1.28, 1.27, 1.26). */
const rejectedCredentials =
  'the server rejects these credentials (401): they have expired or belong to another cluster; get new ones'
const reviewVersions = ['v1', 'v1beta1', 'v1alpha1']

/** Never rejects; errors become lines. */
export async function askServer(files: readonly string[], { name, problems }: ContextOverview): Promise<ServerAnswer> {
  if (problems.length > 0) return { ok: false, lines: problems }
  try {
    const { namespace: _, ...access } = kubeconfigAccess(await contextOf(files, name))
    const connection = new Connection(access)
    try {
      return await answerOf(connection)
    } finally {
      connection.close()
    }
  } catch (error) {
    return {
      ok: false,
      lines: [error instanceof ExplainedError ? error.message : `no response: ${describeError(error)}`, ...hint(error)],
    }
  }
}

async function answerOf(connection: Connection): Promise<ServerAnswer> {
  const started = performance.now()
  const version = await json<{ readonly gitVersion?: string }>(connection, 'GET', '/version')
  const tookMs = Math.max(1, Math.round(performance.now() - started))
  const lines = [
    version.value?.gitVersion
      ? `version ${version.value.gitVersion}, responded in ${tookMs} ms`
      : `GET /version returned ${version.status}`,
  ]
  if (version.status === 401)
    return {
      ok: false,
      lines: [rejectedCredentials],
    }
  for (const review of reviewVersions) {
    const body = Buffer.from(
      JSON.stringify({ apiVersion: `authentication.k8s.io/${review}`, kind: 'SelfSubjectReview' }),
    )
    const answer = await json<SelfSubjectReview>(
      connection,
      'POST',
      `/apis/authentication.k8s.io/${review}/selfsubjectreviews`,
      body,
    )
    if (answer.status === 404) continue
    if (answer.status === 401)
      return {
        ok: false,
        lines: [...lines, rejectedCredentials],
      }
    const { username, groups = [] } = answer.value?.status?.userInfo ?? {}
    if (username === undefined)
      return { ok: true, lines: [...lines, `your user is unknown: SelfSubjectReview returned ${answer.status}`] }
    const ok = username !== 'system:anonymous'
    return {
      ok,
      lines: [
        ...lines,
        `you are ${username}${groups.length > 0 ? ` (${groups.join(', ')})` : ''}`,
        ...(ok ? [] : ['the server treats these credentials as anonymous: get new ones']),
      ],
    }
  }
  return { ok: true, lines: [...lines, 'the server is too old for SelfSubjectReview, so your user is unknown'] }
}

async function json<T>(
  connection: Connection,
  method: string,
  path: string,
  body?: Buffer,
): Promise<{ readonly status: number; readonly value: T | undefined }> {
  const answer = await connection.send({
    method,
    path,
    ...(body && { body, contentType: 'application/json' }),
    timeoutMs,
    signal: AbortSignal.timeout(timeoutMs),
  })
  const chunks: Buffer[] = []
  for await (const chunk of answer.body) chunks.push(chunk)
  try {
    return { status: answer.status, value: JSON.parse(Buffer.concat(chunks).toString()) as T }
  } catch {
    return { status: answer.status, value: undefined }
  }
}

/** Describes an error without the name of the request, which the user did not type. */
const describeError = (error: unknown): string => reasonOf(error).replace(/^GET \/version: /, '')

/** Next steps for common errors. */
function hint(error: unknown): string[] {
  const text = reasonOf(error)
  if (/refuses connections|was reset|EHOSTUNREACH|ENETUNREACH/.test(text))
    return ['check that the cluster is running and that the server is correct (t8s config show)']
  if (/host name of the server is unknown|EAI_AGAIN/.test(text))
    return ['check that the server is correct (t8s config show)']
  if (/altnames|does not match/i.test(text))
    return ['its certificate is for another name: change the server, or set tls-server-name in the kubeconfig']
  if (/certificate/i.test(text))
    return ['its certificate is not signed by the authority in the kubeconfig: import the kubeconfig again']
  return []
}
