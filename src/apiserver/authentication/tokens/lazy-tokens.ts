/** Token authenticators that few clusters have. */
import type { TokenAuthenticator } from '../token-authenticator.ts'

/** Loaded when it starts; until then it knows nobody. */
export function lazyTokens(name: string, load: () => Promise<TokenAuthenticator>): TokenAuthenticator {
  let loaded: TokenAuthenticator | undefined
  return {
    name,
    authenticate: (token, audiences) => loaded?.authenticate(token, audiences),
    async start() {
      loaded = await load()
      await loaded.start?.()
    },
    stop: () => loaded?.stop?.(),
  }
}
