/** Decides which clients get indented JSON: command-line tools and browsers by default, and all that request it. */
import { writeJson } from '../../lib/exact-json.ts'
import type { Request } from '../http/exchange.ts'

const interactiveAgents = ['curl', 'Wget', 'Mozilla/5.0']

export function wantsPretty(request: Request): boolean {
  const value = request.query.get('pretty')
  if (value !== null) return value === 'true' || value === '1'
  const agent = request.header('user-agent') ?? ''
  return interactiveAgents.some((name) => agent.startsWith(name))
}

export const indented = (value: unknown): string => `${writeJson(value, 2)}\n`
