/** The authorization flags: `--authorization-mode` with the flags of its modes, or `--authorization-config`. */
import { readFileSync } from 'node:fs'
import { parsePolicies, unversionedLines } from '../../../apiserver/authorization/abac/index.ts'
import type { AuthorizationMode, AuthorizationOptions } from '../../../apiserver/authorization/index.ts'
import type { FlagValues } from '../../../apiserver/serving-flags/index.ts'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { type FlagContext, pathOf } from '../flag-context.ts'

const modes: readonly AuthorizationMode[] = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node']
const isMode = (text: string): text is AuthorizationMode => modes.some((mode) => mode === text)

/** Flags that a configuration file replaces. */
const replaced: ReadonlySet<string> = new Set([
  'authorization-mode',
  'authorization-webhook-config-file',
  'authorization-webhook-version',
  'authorization-webhook-cache-authorized-ttl',
  'authorization-webhook-cache-unauthorized-ttl',
])

const versions = ['v1', 'v1beta1'] as const
const defaultAuthorizedMs = 300_000
const defaultUnauthorizedMs = 30_000

/** Returns upstream's errors for an invalid choice of modes; empty if there are none. */
export function authorizationErrors(flags: FlagValues): string[] {
  if (flags.text('authorization-config')) {
    return flags.given.some(({ name }) => replaced.has(name))
      ? [
          '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* ' +
            'flags are defined',
        ]
      : []
  }
  const given = flags.list('authorization-mode') ?? []
  const policies = flags.text('authorization-policy-file')
  const webhook = flags.text('authorization-webhook-config-file')
  const version = flags.text('authorization-webhook-version')
  return [
    ...given.flatMap((mode) => [
      ...(isMode(mode) ? [] : [`authorization-mode "${mode}" is not a valid mode`]),
      ...(mode === 'ABAC' && !policies ? ["authorization-mode ABAC's authorization policy file not passed"] : []),
      ...(mode === 'Webhook' && !webhook ? ["authorization-mode Webhook's authorization config file not passed"] : []),
    ]),
    ...(policies && !given.includes('ABAC') ? ['cannot specify --authorization-policy-file without mode ABAC'] : []),
    ...(webhook && !given.includes('Webhook')
      ? ['cannot specify --authorization-webhook-config-file without mode Webhook']
      : []),
    ...(new Set(given).size < given.length
      ? [`authorization-mode [${given.map((mode) => `"${mode}"`).join(' ')}] has mode specified more than once`]
      : []),
    ...(given.includes('Webhook') && version && !versions.some((known) => known === version)
      ? [`unsupported webhook authorizer version ${JSON.stringify(version)}, supported versions are "v1", "v1beta1"`]
      : []),
  ]
}

/** Undefined if no flag is set. Throws an ExplainedError for a policy file that cannot be read. */
export function authorizationOptions(context: FlagContext): AuthorizationOptions | undefined {
  const { flags } = context
  const configurationFile = pathOf(context, 'authorization-config')
  const policyFile = pathOf(context, 'authorization-policy-file')
  const policies = policyFile ? { policies: readPolicies(policyFile, context) } : {}
  if (configurationFile) return { configurationFile, ...policies }
  const given = flags.list('authorization-mode')?.filter(isMode) ?? []
  if (given.length === 0) return undefined
  const kubeconfigFile = pathOf(context, 'authorization-webhook-config-file')
  return {
    modes: given,
    ...policies,
    ...(kubeconfigFile && {
      webhook: {
        kubeconfigFile,
        version: flags.text('authorization-webhook-version') === 'v1' ? 'v1' : 'v1beta1',
        authorizedMs: flags.durationMs('authorization-webhook-cache-authorized-ttl') ?? defaultAuthorizedMs,
        unauthorizedMs: flags.durationMs('authorization-webhook-cache-unauthorized-ttl') ?? defaultUnauthorizedMs,
      },
    }),
  }
}

function readPolicies(file: string, { log }: FlagContext) {
  const text = readText(file)
  if (unversionedLines(text) > 0)
    log(
      `Policy file ${file} contained unversioned rules: give them an apiVersion, ` +
        'abac.authorization.kubernetes.io/v1beta1',
    )
  return parsePolicies(text, file)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}; check --authorization-policy-file`, {
      cause: error,
    })
  }
}
