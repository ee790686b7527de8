import { OperatorError } from '../../core/operator-error.ts'

/** The folder of the embedded database cannot be used. */
export function folderError(folder: string, problem: string, options?: ErrorOptions): OperatorError {
  return new OperatorError(`the database folder ${folder} ${problem}`, options)
}
