/**
 * Controllers of a server that is told of their tokens: each is a user of its own, by a token that is made for one
 * process and known to nobody else.
 */
import { randomBytes } from 'node:crypto'
import type { FeatureSettings } from '../api/features/feature-gates.ts'
import { Connection, type ServerAccess } from '../client/connection/connection.ts'
import { RestClient } from '../client/rest/rest-client.ts'
import { chosenControllers } from './choice.ts'
import type { ControllerClients } from './run.ts'

export interface ControllerIdentity {
  /** The user that upstream's role for it is bound to. */
  readonly user: string
  readonly token: string
}

/** Which controllers run, and as whom. Plain data: it may be sent to another thread. */
export interface ControllerPlan {
  /** As whom all controllers read: upstream's role lets it see everything. */
  readonly manager: ControllerIdentity
  /** By their names. */
  readonly controllers: readonly { readonly name: string; readonly identity: ControllerIdentity }[]
  /** Flags of controllers, by their names without dashes. */
  readonly flags: Readonly<Record<string, string>>
  /** As `--feature-gates`; the defaults of 1.36 if absent. */
  readonly features?: FeatureSettings
}

export interface PlanOptions {
  /** As `--controllers`; all that are on by default unless said. */
  readonly chosen?: readonly string[]
  readonly flags?: Readonly<Record<string, string>>
  readonly features?: FeatureSettings
}

const tokenBytes = 32

/**
 * Each controller gets a token of its own, which the server has to be told of. Throws an ExplainedError for a name that
 * no controller has, and for flags that make no sense.
 */
export function planControllers({ chosen = ['*'], flags = {}, features }: PlanOptions = {}): ControllerPlan {
  const manager = identityOf('system:kube-controller-manager')
  const controllers = chosenControllers(chosen, flags).map(({ name, account }) => ({
    name,
    identity: account ? identityOf(`system:serviceaccount:kube-system:${account}`) : manager,
  }))
  return { manager, controllers, flags, features }
}

const identityOf = (user: string): ControllerIdentity => ({
  user,
  token: randomBytes(tokenBytes).toString('base64url'),
})

/** One connection for all of them, each by its token. */
export function plannedClients({ manager, controllers }: ControllerPlan, server: ServerAccess): ControllerClients {
  // The field manager of what controllers write is known by this name.
  const connection = new Connection({ ...server, userAgent: managerAgent })
  const tokens = new Map(controllers.map(({ name, identity }) => [name, identity.token]))
  return {
    reader: new RestClient(connection, manager.token),
    of: ({ name }) => new RestClient(connection, tokens.get(name) ?? manager.token),
    close: () => connection.close(),
  }
}

/** What all managers of controllers call themselves. */
export const managerAgent = 'kube-controller-manager'
