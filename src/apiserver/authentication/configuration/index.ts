/**
 * Structured authentication (KEP-3331): a file says which issuers of tokens are believed and whom their tokens make,
 * and who may come without credentials. It is read again when it changes; a file that is not right is told in the log
 * and changes nothing.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { type FollowedFile, followFile } from '../../../lib/files/followed-file.ts'
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import { forbiddenField } from '../../../machinery/validation/field-error.ts'
import { type ReloadMetrics, reloadMetrics } from '../../config-files/reload-metrics.ts'
import type { JwtIssuer } from '../oidc/jwt-issuer.ts'
import { signingAlgorithms } from '../oidc/key-set.ts'
import { jwtMetrics } from '../oidc/metrics.ts'
import type { TokenAuthenticator, TokenVerdict } from '../token-authenticator.ts'
import type { TokenCacheMetrics } from '../tokens/cache-metrics.ts'
import { type AuthenticationConfiguration, parseConfiguration } from './configuration-file.ts'
import { type Issuers, type IssuersOptions, issuerTokens } from './issuers.ts'
import { checkConfiguration } from './validate-configuration.ts'

export interface IssuerSources {
  /** Issuers that are somebody else: the server's own, of service account tokens. */
  readonly disallowed: readonly string[]
  readonly metrics: MetricsRegistry
  readonly tokenCache: TokenCacheMetrics
  readonly log: (line: string) => void
}

export interface ConfiguredOptions extends IssuerSources {
  readonly file: string
  /** Whether flags say something about requests without credentials: then the file may not. */
  readonly anonymousFlag: boolean
  /**
   * How long new issuers have time to be reached before the file that names them counts as failed, ms; a minute unless
   * said.
   */
  readonly patienceMs?: number
  /** After how long such a file is tried again, ms; a minute unless said. */
  readonly retryMs?: number
}

/** The issuer of the flags `--oidc-…`. Throws an ExplainedError for one that cannot be. */
export function flaggedIssuer(
  issuer: JwtIssuer,
  algorithms: readonly string[],
  { disallowed, metrics, tokenCache, log }: IssuerSources,
): TokenAuthenticator {
  const unknown = algorithms.find((algorithm) => !signingAlgorithms.includes(algorithm))
  if (unknown !== undefined) throw new ExplainedError(`oidc: unsupported signing alg: ${JSON.stringify(unknown)}`)
  try {
    checkConfiguration({ jwt: [issuer] }, disallowed)
  } catch (error) {
    throw new ExplainedError(`invalid authentication configuration: ${reasonOf(error)}`, { cause: error })
  }
  return issuerTokens([issuer], { algorithms, metrics: jwtMetrics(metrics), tokenCache, log })
}

const usualPatienceMs = 60_000
const usualRetryMs = 60_000
/** How often new issuers are looked at while they are waited for, ms. */
const lookMs = 100

export class ConfiguredAuthentication implements TokenAuthenticator {
  readonly name = 'AuthenticationConfiguration'
  readonly #options: ConfiguredOptions
  readonly #issuerOptions: IssuersOptions
  readonly #reloads: ReloadMetrics
  readonly #stopping = new AbortController()
  #configuration: AuthenticationConfiguration = {}
  #issuers: Issuers | undefined
  #followed: FollowedFile | undefined
  #reloading = Promise.resolve()
  #retry: NodeJS.Timeout | undefined

  constructor(options: ConfiguredOptions) {
    this.#options = options
    this.#issuerOptions = {
      algorithms: signingAlgorithms,
      metrics: jwtMetrics(options.metrics),
      tokenCache: options.tokenCache,
      log: options.log,
    }
    this.#reloads = reloadMetrics(options.metrics, 'authentication')
  }

  /** Where requests without credentials are let in: undefined if the file does not say. */
  get anonymous(): ((path: string) => boolean) | undefined {
    const { anonymous } = this.#configuration
    if (!anonymous) return undefined
    const paths = anonymous.conditions?.map(({ path = '' }) => path) ?? []
    return (path) => anonymous.enabled === true && (paths.length === 0 || paths.includes(path))
  }

  authenticate(token: string, audiences: readonly string[]): TokenVerdict | Promise<TokenVerdict> {
    return this.#issuers?.authenticate(token, audiences)
  }

  /** Rejects with an ExplainedError for a file that is not right. Providers may be out of reach. */
  async start(): Promise<void> {
    const { file, anonymousFlag } = this.#options
    let text: string
    try {
      text = await readFile(file, 'utf8')
      const configuration = parseConfiguration(text)
      const clash = anonymousFlag && configuration.anonymous
      checkConfiguration(
        configuration,
        this.#options.disallowed,
        clash
          ? [
              forbiddenField(
                'anonymous',
                '--anonymous-auth flag cannot be set when anonymous field is configured in authentication ' +
                  'configuration file',
              ),
            ]
          : [],
      )
      this.#configuration = configuration
    } catch (error) {
      throw new ExplainedError(
        `--authentication-config ${file}: invalid authentication configuration: ${reasonOf(error)}`,
        { cause: error },
      )
    }
    this.#issuers = issuerTokens(this.#configuration.jwt ?? [], this.#issuerOptions)
    await this.#issuers.start?.()
    this.#reloads.loaded(text)
    this.#followed = followFile(
      file,
      text,
      (changed) => this.#inTurn(changed),
      (error) => this.#failed('read', 'config file', error),
    )
  }

  stop(): void {
    this.#stopping.abort()
    this.#followed?.stop()
    clearTimeout(this.#retry)
    this.#issuers?.stop()
  }

  #inTurn(text: string): Promise<void> {
    return (this.#reloading = this.#reloading.then(() => this.#reload(text)))
  }

  /**
   * Never rejects. A text that is not right never will be; issuers that are out of reach are tried again, unless the
   * file changes.
   */
  async #reload(text: string): Promise<void> {
    const { disallowed, log, retryMs = usualRetryMs } = this.#options
    const { signal } = this.#stopping
    clearTimeout(this.#retry)
    let trying = 'load'
    try {
      const configuration = parseConfiguration(text)
      trying = 'validate'
      const isSame = jsonEqual(configuration.anonymous, this.#configuration.anonymous)
      checkConfiguration(
        configuration,
        disallowed,
        isSame ? [] : [forbiddenField('anonymous', 'changed from initial configuration file')],
      )
      trying = 'update'
      await this.#use(configuration)
      this.#reloads.reloaded(text)
      log('reloaded authentication config')
    } catch (error) {
      if (signal.aborted) return
      this.#failed(trying, 'config', error)
      if (trying === 'update') this.#retry = setTimeout(() => this.#inTurn(text), retryMs).unref()
    }
  }

  #failed(trying: string, what: string, error: unknown): void {
    this.#reloads.failed()
    this.#options.log(`failed to ${trying} authentication ${what}: ${reasonOf(error)}`)
  }

  /** New issuers take the place of the old ones when all of them can judge tokens. */
  async #use(configuration: AuthenticationConfiguration): Promise<void> {
    const { signal } = this.#stopping
    const { patienceMs = usualPatienceMs } = this.#options
    const issuers = issuerTokens(configuration.jwt ?? [], this.#issuerOptions)
    await issuers.start?.()
    try {
      const deadline = performance.now() + patienceMs
      while (issuers.faults.length > 0) {
        if (performance.now() > deadline)
          throw new Error(`[${[...issuers.faults, 'context deadline exceeded'].join(', ')}]`)
        await delay(lookMs, undefined, { signal, ref: false })
      }
    } catch (error) {
      issuers.stop()
      throw error
    }
    const before = this.#issuers
    this.#issuers = issuers
    this.#configuration = configuration
    before?.retire()
  }
}
