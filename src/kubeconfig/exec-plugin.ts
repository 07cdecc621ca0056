/** Runs exec plugins of user entries, which return credentials (the API client.authentication.k8s.io). */
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
  /** Appended to the error if the program is missing. */
  readonly installHint?: string
  /** Passed to the program if the entry has `provideClusterInfo`. */
  readonly cluster?: object
}

/** The credentials that a program returned. */
export interface ExecCredentials {
  readonly token?: string
  readonly cert?: string
  readonly key?: string
  /** Expiry in ms since 1970. Default: none. */
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

/** Timeout of a program, in ms. */
const execTimeoutMs = 60_000
const run = promisify(execFile)

/** The exec plugin of a user entry, if any. Throws an ExplainedError if it requires a terminal. */
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
      `${command}, which the kubeconfig names, requires a terminal (interactiveMode: Always), which t8s lacks`,
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
      `${command}, which the kubeconfig names, returned no credentials: ${reasonOf(error).trim()}${hint}`,
      { cause: error },
    )
  }
}

function credentialsOf({ apiVersion, status }: ExecCredential, requestedVersion: string): ExecCredentials {
  if (apiVersion !== requestedVersion)
    throw new Error(`its output has the apiVersion ${apiVersion ?? '(none)'} instead of ${requestedVersion}`)
  const [token, cert, key] = [text(status?.token), text(status?.clientCertificateData), text(status?.clientKeyData)]
  if (!token && !cert && !key) throw new Error('its output has neither a token nor a certificate')
  if (!cert !== !key) throw new Error('clientCertificateData and clientKeyData must be set together')
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

/** The exec extension of the cluster entry. */
function configOf(extensions: unknown): unknown {
  if (!Array.isArray(extensions)) return undefined
  return (extensions as { readonly name?: string; readonly extension?: unknown }[]).find(
    ({ name }) => name === 'client.authentication.k8s.io/exec',
  )?.extension
}
