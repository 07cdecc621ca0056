/** Who is shown indented JSON: people's tools, unless they ask otherwise, and whoever asks for it. */
import { writeJson } from '../../lib/exact-json.ts'
import type { Request } from '../http/exchange.ts'

const peoplesTools = ['curl', 'Wget', 'Mozilla/5.0']

export function wantsPretty(request: Request): boolean {
  const asked = request.query.get('pretty')
  if (asked !== null) return asked === 'true' || asked === '1'
  const agent = request.header('user-agent') ?? ''
  return peoplesTools.some((name) => agent.startsWith(name))
}

export const indented = (value: unknown): string => `${writeJson(value, 2)}\n`
