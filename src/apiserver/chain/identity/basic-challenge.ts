/** Browsers and other HTTP clients send a password only to servers that ask for one with their 401 (RFC 7617). */
import type { Filter } from '../filter.ts'

const challenge = 'Basic realm="kubernetes-master"'

export const basicChallenge = (): Filter => ({
  answered(_, response) {
    if (response.status === 401) response.headers['www-authenticate'] ??= challenge
    return response
  },
})
