/** The flags about who may do what: `--authorization-mode` and what belongs to its modes. */
import type { AuthorizationMode, AuthorizationOptions } from '../../apiserver/authorization/index.ts'
import type { FlagValues } from '../../apiserver/serving-flags/index.ts'
import type { FlagPlace } from './flag-place.ts'

const modes: readonly string[] = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] satisfies AuthorizationMode[]

/** What upstream says about a choice of modes that cannot be; empty if all is well. */
export function authorizationErrors(flags: FlagValues): string[] {
  const given = flags.list('authorization-mode') ?? []
  return [
    ...given.filter((mode) => !modes.includes(mode)).map((mode) => `authorization-mode "${mode}" is not a valid mode`),
    ...(new Set(given).size < given.length ? [`authorization-mode [${given.map((mode) => `"${mode}"`).join(' ')}] has mode specified more than once`] : []),
  ]
}

/** Undefined where no flag says anything. */
export function authorizationOptions({ flags }: FlagPlace): AuthorizationOptions | undefined {
  const given = flags.list('authorization-mode') as AuthorizationMode[] | undefined
  if (!given || given.length === 0) return undefined
  return { modes: given }
}
