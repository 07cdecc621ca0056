/**
 * Controllers in the process of a lone API server (`--controllers`): for test suites whose namespaces should empty
 * themselves, and whose owners take what they own.
 */
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { FeatureGates } from '../../api/features/feature-gates.ts'
import type { TokenUser } from '../../apiserver/authentication/tokens/static-tokens.ts'
import { planControllers, plannedClients, runControllers } from '../../controllers/index.ts'
import { controllerTokens } from '../controllers/index.ts'
import { namedSigners } from '../pki/certificate-signer.ts'

export interface LoneControllersServer {
  /** In this process: whatever certificate the server has, and wherever it listens, it is this one. */
  readonly dial: () => Duplex
  /** What pods check the server by. */
  readonly rootCA: string
  readonly signToken: (claims: Readonly<Record<string, unknown>>) => Promise<string>
  readonly log: (line: string) => void
}

export interface LoneControllers {
  /** What the server has to be told. */
  readonly tokens: readonly TokenUser[]
  begin(server: LoneControllersServer): void
  /** Resolves when what is under way is done, or `graceMs` have passed. */
  stop(graceMs: number): Promise<void>
}

/** Throws an ExplainedError for a name that no controller has. */
export function loneControllers(chosen: readonly string[], features?: FeatureGates): LoneControllers {
  const plan = planControllers({ chosen, features: features?.settings })
  let running: ReturnType<typeof runControllers> | undefined
  return {
    tokens: controllerTokens(plan),
    begin({ dial, rootCA, signToken, log }) {
      // There is no authority to sign with.
      const sources = { rootCA, signToken, signer: namedSigners(new Map()) }
      running = runControllers({
        chosen,
        flags: {},
        sources,
        features,
        clients: plannedClients(plan, { url: 'http://localhost', dial }),
        log,
      })
    },
    async stop(graceMs) {
      await Promise.race([running?.stop(), delay(graceMs, undefined, { ref: false })])
    },
  }
}
