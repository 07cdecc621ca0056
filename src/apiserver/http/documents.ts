import type { Request, Response } from './exchange.ts'

/** Finds the handler of a path that is no resource (discovery, OpenAPI, debug pages); undefined if there is none. */
export type Documents = (path: string) => ((request: Request) => Response | Promise<Response>) | undefined
