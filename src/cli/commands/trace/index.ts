/** `t8s trace`: explains the rules of this machine. */
import { Command } from 'commander'
import { traceServiceCommand } from './service.ts'

export const traceCommand = (): Command =>
  new Command('trace')
    .description('follow a connection through the rules of this machine')
    .addCommand(traceServiceCommand())
