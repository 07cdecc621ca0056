/** Token authenticators that are loaded only where they are configured. */
import type { TokenAuthenticator } from '../token-authenticator.ts'

/** Loaded on start. Until then all tokens are unknown. */
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
