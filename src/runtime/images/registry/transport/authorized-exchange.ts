/** Requests to one registry with the authorization that it asks for. */
import type { IncomingMessage } from 'node:http'
import type { Authorizer } from './authorizer.ts'
import type { ExchangeRequest, HttpExchange } from './http-exchange.ts'

export interface ScopedRequest extends ExchangeRequest {
  /** Such as `repository:web:pull`. */
  readonly scope: string
}

/** Further attempts after a response 401: a token, and a token in place of one that has expired. */
const maxAnswers = 2

export class AuthorizedExchange {
  readonly #exchange: HttpExchange
  readonly #authorizer: Authorizer

  constructor(exchange: HttpExchange, authorizer: Authorizer) {
    this.#exchange = exchange
    this.#authorizer = authorizer
  }

  /** Resolves with the response of any status, 401 only if credentials are wrong or missing. */
  async send({ scope, ...request }: ScopedRequest): Promise<IncomingMessage> {
    for (let answers = 0; ; answers++) {
      const authorization = this.#authorizer.header(scope)
      const headers = { 'user-agent': 't8s', ...request.headers, ...(authorization && { authorization }) }
      const response = await this.#exchange.send({ ...request, headers })
      if (response.statusCode !== 401 || answers === maxAnswers) return response
      const { signal } = request
      const isAnswered = await this.#authorizer
        .answer(response, scope, authorization, signal)
        .catch((error: unknown) => {
          response.resume()
          throw error
        })
      if (!isAnswered) return response
      response.resume()
    }
  }
}
