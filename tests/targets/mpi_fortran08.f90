! SPDX-License-Identifier: Apache-2.0
! The same as mpi_fortran.f90, by the module mpi_f08.
program mpi_fortran08
  use mpi_f08
  implicit none

  integer :: ierr, rank, size, next, before, i, one
  integer :: buffer(10000)
  type(MPI_Request) :: request(2)
  type(MPI_Comm) :: comm
  type(MPI_Status) :: status
  double precision :: x, y
  integer :: counts(4), places(4)
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)
  do i = 1, 10
    if (rank == 0) call MPI_SEND(buffer, 1000, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, ierr)
    if (rank == 1) call MPI_RECV(buffer, 5000, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end do
  do i = 1, 5
    call MPI_IRECV(buffer, 2000, MPI_BYTE, before, 3, MPI_COMM_WORLD, request(1), ierr)
    call MPI_ISEND(buffer(5000), 1500, MPI_BYTE, next, 3, MPI_COMM_WORLD, request(2), ierr)
    call MPI_WAITALL(2, request, MPI_STATUSES_IGNORE, ierr)
  end do
  call MPI_IRECV(buffer, 2000, MPI_BYTE, before, 3, MPI_COMM_WORLD, request(1), ierr)
  call MPI_SEND(buffer(5000), 1500, MPI_BYTE, next, 3, MPI_COMM_WORLD, ierr)
  call MPI_WAITANY(1, request, one, status, ierr)
  call MPI_COMM_SPLIT(MPI_COMM_WORLD, mod(rank, 2), rank, comm, ierr)
  call MPI_COMM_SET_NAME(comm, 'half', ierr)
  x = rank
  call MPI_ALLREDUCE(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierr)
  call MPI_COMM_FREE(comm, ierr)
  counts = rank + 1
  call MPI_BCAST(buffer, 100, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_ALLGATHER(MPI_IN_PLACE, 0, MPI_INTEGER, buffer, 5, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call MPI_BARRIER(MPI_COMM_WORLD, ierr)
  call MPI_FINALIZE(ierr)
  if (rank == 0) print *, 'done', y
end program
