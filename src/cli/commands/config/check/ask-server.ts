/** What a server says of itself and of who asks, in a few lines for a terminal. */
import { Connection } from '../../../../client/connection/connection.ts'
import { kubeconfigAccess } from '../../../../client/connection/load-access.ts'
import type { ContextOverview } from '../../../../kubeconfig/contexts/overview.ts'
import { contextOf } from '../../../../kubeconfig/read-context.ts'
import { ExplainedError, reasonOf } from '../../../../lib/explained-error.ts'

export interface ServerAnswer {
  /** Whether it answers, and knows who asks. */
  readonly ok: boolean
  readonly lines: readonly string[]
}

interface SelfSubjectReview {
  readonly status?: { readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] } }
}

/** How long one question may take, in ms. */
const timeoutMs = 10_000
/** SelfSubjectReview by its versions, the newest first (Kubernetes 1.28, 1.27, 1.26). */
const reviewVersions = ['v1', 'v1beta1', 'v1alpha1']

/** Never rejects: what goes wrong is a line. */
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
      lines: [error instanceof ExplainedError ? error.message : `it does not answer: ${why(error)}`, ...hint(error)],
    }
  }
}

async function answerOf(connection: Connection): Promise<ServerAnswer> {
  const started = performance.now()
  const version = await json<{ readonly gitVersion?: string }>(connection, 'GET', '/version')
  const tookMs = Math.max(1, Math.round(performance.now() - started))
  const lines = [
    version.value?.gitVersion
      ? `version ${version.value.gitVersion}, answered in ${tookMs} ms`
      : `it answers ${version.status} when asked for its version`,
  ]
  if (version.status === 401)
    return {
      ok: false,
      lines: ['it does not take these credentials (401): they have expired, or are for another cluster; get new ones'],
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
        lines: [
          ...lines,
          'it does not take these credentials (401): they have expired, or are for another cluster; get new ones',
        ],
      }
    const { username, groups = [] } = answer.value?.status?.userInfo ?? {}
    if (username === undefined) return { ok: true, lines: [...lines, `it does not say who you are (${answer.status})`] }
    const ok = username !== 'system:anonymous'
    return {
      ok,
      lines: [
        ...lines,
        `you are ${username}${groups.length > 0 ? ` (${groups.join(', ')})` : ''}`,
        ...(ok ? [] : ['it knows nobody by these credentials: get new ones']),
      ],
    }
  }
  return { ok: true, lines: [...lines, 'it is too old to say who you are'] }
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

/** What went wrong, without the request that nobody wrote. */
const why = (error: unknown): string => reasonOf(error).replace(/^GET \/version: /, '')

/** What to do about what goes wrong often. */
function hint(error: unknown): string[] {
  const text = reasonOf(error)
  if (/refuses connections|was reset|EHOSTUNREACH|ENETUNREACH/.test(text))
    return ['see whether the cluster runs, and whether the server is the right one (t8s config show)']
  if (/name of the server is not known|EAI_AGAIN/.test(text))
    return ['see whether the server is the right one (t8s config show)']
  if (/altnames|does not match/i.test(text))
    return ['its certificate is for another name: change the server, or say tls-server-name in the kubeconfig']
  if (/certificate/i.test(text))
    return ['its certificate is not one of the authority in the kubeconfig: import it again']
  return []
}
