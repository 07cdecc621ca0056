/** Sends a Basic challenge with 401: browsers and other HTTP clients send a password only then (RFC 7617). */
import type { Filter } from '../filter.ts'

const challenge = 'Basic realm="kubernetes-master"'

export const basicChallenge = (): Filter => ({
  answered(_, response) {
    if (response.status === 401) response.headers['www-authenticate'] ??= challenge
    return response
  },
})
