/**
 * Plans which controllers run and as which users. Each user authenticates with a random token that is valid for one
 * process; the server must be given the tokens.
 */
import { randomBytes } from 'node:crypto'
import type { FeatureSettings } from '../api/features/feature-gates.ts'
import { Connection, type ServerAccess } from '../client/connection/connection.ts'
import { RestClient } from '../client/rest/rest-client.ts'
import type { ControllerClients } from './run.ts'
import { selectControllers } from './select-controllers.ts'

export interface ControllerIdentity {
  /** The user that upstream binds the controller's role to. */
  readonly user: string
  readonly token: string
}

/** The controllers that run and their users. Plain data, so that it can be sent to another thread. */
export interface ControllerPlan {
  /** The user of all informers: upstream's role lets it read everything. */
  readonly manager: ControllerIdentity
  /** The controllers by name. */
  readonly controllers: readonly { readonly name: string; readonly identity: ControllerIdentity }[]
  /** Flags of controllers by name, without leading dashes. */
  readonly flags: Readonly<Record<string, string>>
  /** As in `--feature-gates`. Default: the defaults of 1.36. */
  readonly features?: FeatureSettings
}

export interface PlanOptions {
  /** As in `--controllers`. Default: all that are on by default. */
  readonly chosen?: readonly string[]
  readonly flags?: Readonly<Record<string, string>>
  readonly features?: FeatureSettings
}

const tokenBytes = 32

/** Plans controllers, each with its own token. Throws an ExplainedError for unknown names and invalid flags. */
export function planControllers({ chosen = ['*'], flags = {}, features }: PlanOptions = {}): ControllerPlan {
  const manager = identityOf('system:kube-controller-manager')
  const controllers = selectControllers(chosen, flags).map(({ name, account }) => ({
    name,
    identity: account ? identityOf(`system:serviceaccount:kube-system:${account}`) : manager,
  }))
  return { manager, controllers, flags, features }
}

const identityOf = (user: string): ControllerIdentity => ({
  user,
  token: randomBytes(tokenBytes).toString('base64url'),
})

/** Creates the clients of a plan: all share one connection, each sends its own token. */
export function plannedClients({ manager, controllers }: ControllerPlan, server: ServerAccess): ControllerClients {
  // The server derives the field manager of controllers' writes from this name.
  const connection = new Connection({ ...server, userAgent: managerUserAgent })
  const tokens = new Map(controllers.map(({ name, identity }) => [name, identity.token]))
  return {
    reader: new RestClient(connection, manager.token),
    of: ({ name }) => new RestClient(connection, tokens.get(name) ?? manager.token),
    close: () => connection.close(),
  }
}

/** The user agent of all controller managers. */
export const managerUserAgent = 'kube-controller-manager'
