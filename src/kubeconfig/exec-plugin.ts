/**
 * Programs that hand out credentials, where a user's entry names one (`exec`; the API client.authentication.k8s.io).
 */
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { ExplainedError, errorCode, reasonOf } from '../lib/explained-error.ts'
import { type KubeconfigEntry, text } from './kubeconfig-file.ts'

export interface ExecPlugin {
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Told to who has not got the program. */
  readonly installHint?: string
  /** What the program is told of the cluster, where it wants to know. */
  readonly cluster?: object
}

/** What a program handed out. */
export interface ExecCredentials {
  readonly token?: string
  readonly cert?: string
  readonly key?: string
  /** Until when it may be used, in ms since 1970; for as long as the server takes it unless said. */
  readonly expires?: number
}

interface ExecEntry {
  readonly apiVersion?: string
  readonly command?: string
  readonly args?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
  readonly installHint?: string
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always'
  readonly provideClusterInfo?: boolean
}

interface ExecCredential {
  readonly apiVersion?: string
  readonly status?: {
    readonly token?: string
    readonly clientCertificateData?: string
    readonly clientKeyData?: string
    readonly expirationTimestamp?: string
  }
}

/** How long a program may take, in ms. */
const execTimeoutMs = 60_000
const run = promisify(execFile)

/**
 * The program of a user's entry; undefined if it names none. Throws an ExplainedError for one that needs a terminal.
 */
export function execPluginOf({ fields, folder }: KubeconfigEntry, cluster: KubeconfigEntry): ExecPlugin | undefined {
  const exec = fields.exec as ExecEntry | undefined
  if (!exec?.command) return undefined
  const {
    apiVersion = 'client.authentication.k8s.io/v1',
    command,
    args,
    env,
    installHint,
    interactiveMode,
    provideClusterInfo,
  } = exec
  if (interactiveMode === 'Always')
    throw new ExplainedError(
      `${command}, which the kubeconfig names, asks at a terminal (interactiveMode: Always): nobody is there`,
    )
  return {
    apiVersion,
    command: command.includes('/') ? resolve(folder, command) : command,
    args: args ?? [],
    env: Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
    ...(installHint && { installHint }),
    ...(provideClusterInfo && { cluster: clusterInfo(cluster) }),
  }
}

/** Rejects with an ExplainedError that names the program. */
export async function runExecPlugin({
  apiVersion,
  command,
  args,
  env,
  installHint,
  cluster,
}: ExecPlugin): Promise<ExecCredentials> {
  const info = JSON.stringify({
    kind: 'ExecCredential',
    apiVersion,
    spec: { ...(cluster && { cluster }), interactive: false },
  })
  try {
    const { stdout } = await run(command, [...args], {
      env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: info },
      timeout: execTimeoutMs,
    })
    return credentialsOf(JSON.parse(stdout) as ExecCredential, apiVersion)
  } catch (error) {
    const hint = errorCode(error) === 'ENOENT' && installHint ? `; ${installHint.trim()}` : ''
    throw new ExplainedError(
      `${command}, which the kubeconfig names, gave no credentials: ${reasonOf(error).trim()}${hint}`,
      { cause: error },
    )
  }
}

function credentialsOf({ apiVersion, status }: ExecCredential, asked: string): ExecCredentials {
  if (apiVersion !== asked) throw new Error(`it answers in ${apiVersion ?? 'no version'}, and was asked in ${asked}`)
  const [token, cert, key] = [text(status?.token), text(status?.clientCertificateData), text(status?.clientKeyData)]
  if (!token && !cert && !key) throw new Error('its answer has neither a token nor a certificate')
  if (!cert !== !key) throw new Error('clientCertificateData and clientKeyData go together')
  const expires = Date.parse(status?.expirationTimestamp ?? '')
  return {
    ...(token && { token }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(!Number.isNaN(expires) && { expires }),
  }
}

const clusterInfo = ({ fields }: KubeconfigEntry): object => ({
  server: fields.server,
  'tls-server-name': fields['tls-server-name'],
  'insecure-skip-tls-verify': fields['insecure-skip-tls-verify'],
  'certificate-authority-data': fields['certificate-authority-data'],
  'proxy-url': fields['proxy-url'],
  config: configOf(fields.extensions),
})

/** What the cluster's entry has for such programs. */
function configOf(extensions: unknown): unknown {
  if (!Array.isArray(extensions)) return undefined
  return (extensions as { readonly name?: string; readonly extension?: unknown }[]).find(
    ({ name }) => name === 'client.authentication.k8s.io/exec',
  )?.extension
}
