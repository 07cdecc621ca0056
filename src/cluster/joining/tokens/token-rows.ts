/** Tokens as `kubeadm token list` prints them. */
import { shortHumanDuration } from '../../../machinery/values/duration.ts'
import { tokenText } from './token-form.ts'
import { type ListedToken, rfc3339 } from './token-secret.ts'

/** The cells of TOKEN, TTL, EXPIRES, USAGES, DESCRIPTION and EXTRA GROUPS. `now` is in ms since 1970. */
export const tokenRows = (tokens: readonly ListedToken[], now: number): string[][] =>
  tokens.map(({ token, expires, usages, description, groups }) => [
    tokenText(token),
    ...times(expires, now),
    orNone(usages.join()),
    orNone(description),
    orNone(groups.join()),
  ])

function times(expires: ListedToken['expires'], now: number): [string, string] {
  if (expires === undefined) return ['<forever>', '<never>']
  if (expires === 'invalid') return ['<invalid>', '<invalid>']
  return [shortHumanDuration(expires.getTime() - now), rfc3339(expires)]
}

const orNone = (text = ''): string => text || '<none>'

/** The object of `-o json`: kubeadm's BootstrapToken. */
export const tokenObject = ({ token, expires, usages, description, groups }: ListedToken): object => ({
  kind: 'BootstrapToken',
  apiVersion: 'output.kubeadm.k8s.io/v1alpha3',
  token: tokenText(token),
  ...(description && { description }),
  ...(expires instanceof Date && { expires: rfc3339(expires) }),
  usages,
  groups,
})
