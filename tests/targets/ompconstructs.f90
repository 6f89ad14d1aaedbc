! SPDX-License-Identifier: Apache-2.0
! The constructs of ompconstructs.c in Fortran, which computes in work() of that file.
module constructs
  use omp_lib
  use iso_c_binding
  implicit none
  integer, save :: copied
  !$omp threadprivate(copied)
  interface
    subroutine work(units) bind(C)
      import :: c_int
      integer(c_int), value :: units
    end subroutine
    subroutine begin_constructs() bind(C)
    end subroutine
    subroutine tell(name, regions) bind(C)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: regions
    end subroutine
  end interface
contains
  subroutine c_parallel() bind(C)
    !$omp parallel num_threads(2)
    call work(merge(1, 3, omp_get_thread_num() > 0))
    !$omp end parallel
  end subroutine

  subroutine c_for_static() bind(C)
    integer :: i
    !$omp parallel do num_threads(2) schedule(static)
    do i = 1, 4
      call work(merge(2, 1, i <= 2))
    end do
  end subroutine

  subroutine c_for_chunks() bind(C)
    integer :: i
    !$omp parallel do num_threads(2) schedule(static, 1)
    do i = 1, 4
      call work(merge(2, 1, mod(i, 2) == 1))
    end do
  end subroutine

  subroutine c_for_dynamic() bind(C)
    integer :: i
    !$omp parallel do num_threads(2) schedule(dynamic, 1)
    do i = 1, 6
      call work(1)
    end do
  end subroutine

  subroutine c_for_guided() bind(C)
    integer :: i
    !$omp parallel do num_threads(2) schedule(guided)
    do i = 1, 6
      call work(1)
    end do
  end subroutine

  subroutine c_for_runtime() bind(C)
    integer :: i
    !$omp parallel do num_threads(2) schedule(runtime)
    do i = 1, 6
      call work(1)
    end do
  end subroutine

  subroutine c_for_auto() bind(C)
    integer :: i
    !$omp parallel do num_threads(2) schedule(auto)
    do i = 1, 6
      call work(1)
    end do
  end subroutine

  subroutine c_for_nowait() bind(C)
    integer :: i
    !$omp parallel num_threads(2)
    !$omp do
    do i = 1, 2
      call work(merge(3, 1, i == 1))
    end do
    !$omp end do nowait
    call work(1)
    !$omp end parallel
  end subroutine

  subroutine c_for_ordered() bind(C)
    integer :: i
    !$omp parallel do ordered num_threads(2) schedule(static, 1)
    do i = 1, 4
      !$omp ordered
      call work(1)
      !$omp end ordered
    end do
  end subroutine

  subroutine c_for_doacross() bind(C)
    integer :: i
    !$omp parallel do ordered(1) num_threads(2) schedule(static, 1)
    do i = 1, 4
      !$omp ordered depend(sink: i - 1)
      call work(1)
      !$omp ordered depend(source)
    end do
  end subroutine

  subroutine c_for_collapse() bind(C)
    integer :: i, k
    !$omp parallel do collapse(2) num_threads(2)
    do i = 1, 2
      do k = 1, 2
        call work(i)
      end do
    end do
  end subroutine

  subroutine c_for_reduction() bind(C)
    integer :: i, total
    total = 0
    !$omp parallel do reduction(+:total) num_threads(2)
    do i = 1, 2
      call work(i)
      total = total + i
    end do
    if (total /= 3) stop 1
  end subroutine

  subroutine c_for_lastprivate() bind(C)
    integer :: i, last
    !$omp parallel do lastprivate(last) num_threads(2)
    do i = 1, 2
      call work(i)
      last = i
    end do
    if (last /= 2) stop 1
  end subroutine

  subroutine c_for_simd() bind(C)
    integer :: i
    !$omp parallel do simd num_threads(2)
    do i = 1, 2
      call work(i)
    end do
  end subroutine

  subroutine c_sections() bind(C)
    !$omp parallel num_threads(2)
    !$omp sections
    !$omp section
    call work(2)
    !$omp section
    call work(1)
    !$omp section
    call work(1)
    !$omp end sections
    !$omp end parallel
  end subroutine

  subroutine c_parallel_sections() bind(C)
    !$omp parallel sections num_threads(2)
    !$omp section
    call work(2)
    !$omp section
    call work(1)
    !$omp end parallel sections
  end subroutine

  subroutine c_workshare() bind(C)
    integer :: values(2)
    !$omp parallel num_threads(2)
    !$omp workshare
    values = 1
    !$omp end workshare
    call work(values(1) + values(2))
    !$omp end parallel
  end subroutine

  subroutine c_single() bind(C)
    !$omp parallel num_threads(2)
    !$omp single
    call work(3)
    !$omp end single
    !$omp end parallel
  end subroutine

  subroutine c_single_nowait() bind(C)
    !$omp parallel num_threads(2)
    !$omp single
    call work(2)
    !$omp end single nowait
    call work(1)
    !$omp end parallel
  end subroutine

  subroutine c_copyprivate() bind(C)
    integer :: value
    !$omp parallel num_threads(2) private(value)
    !$omp single
    call work(2)
    value = 1
    !$omp end single copyprivate(value)
    call work(value)
    !$omp end parallel
  end subroutine

  subroutine c_master() bind(C)
    !$omp parallel num_threads(2)
    !$omp master
    call work(3)
    !$omp end master
    !$omp end parallel
  end subroutine

  subroutine c_critical() bind(C)
    !$omp parallel num_threads(2)
    !$omp critical
    call work(2)
    !$omp end critical
    !$omp end parallel
  end subroutine

  subroutine c_critical_named() bind(C)
    !$omp parallel num_threads(2)
    !$omp critical (name)
    call work(2)
    !$omp end critical (name)
    !$omp end parallel
  end subroutine

  subroutine c_atomic() bind(C)
    integer :: count
    count = 0
    !$omp parallel num_threads(2)
    call work(1)
    !$omp atomic
    count = count + 1
    call work(1)
    !$omp end parallel
    if (count /= 2) stop 1
  end subroutine

  subroutine c_barrier() bind(C)
    !$omp parallel num_threads(2)
    call work(merge(1, 2, omp_get_thread_num() > 0))
    !$omp barrier
    call work(merge(2, 1, omp_get_thread_num() > 0))
    !$omp end parallel
  end subroutine

  subroutine c_task() bind(C)
    !$omp parallel num_threads(2)
    !$omp single
    !$omp task 
    call work(2)
    !$omp end task
    !$omp task 
    call work(2)
    !$omp end task
    !$omp end single
    !$omp end parallel
  end subroutine

  subroutine c_task_undeferred() bind(C)
    !$omp parallel num_threads(2)
    !$omp single
    !$omp task if(.false.)
    call work(3)
    !$omp end task
    !$omp end single
    !$omp end parallel
  end subroutine

  subroutine c_task_depend() bind(C)
    integer, save :: token
    !$omp parallel num_threads(2)
    !$omp single
    !$omp task depend(out: token)
    call work(2)
    !$omp end task
    !$omp task depend(in: token)
    call work(2)
    !$omp end task
    !$omp end single
    !$omp end parallel
  end subroutine

  subroutine c_taskwait() bind(C)
    !$omp parallel num_threads(2)
    !$omp single
    !$omp task 
    call work(2)
    !$omp end task
    call work(1)
    !$omp taskwait
    call work(1)
    !$omp end single
    !$omp end parallel
  end subroutine

  subroutine c_taskgroup() bind(C)
    !$omp parallel num_threads(2)
    !$omp single
    !$omp taskgroup
    !$omp task 
    call work(2)
    !$omp end task
    call work(2)
    !$omp end taskgroup
    !$omp end single
    !$omp end parallel
  end subroutine

  subroutine c_taskloop() bind(C)
    integer :: i
    !$omp parallel num_threads(2)
    !$omp single
    !$omp taskloop num_tasks(4)
    do i = 1, 4
      call work(1)
    end do
    !$omp end taskloop
    !$omp end single
    !$omp end parallel
  end subroutine

  subroutine c_nested() bind(C)
    !$omp parallel num_threads(2)
    call work(1)
    if (omp_get_thread_num() == 0) then
      !$omp parallel num_threads(2)
      call work(1)
      !$omp end parallel
    end if
    !$omp end parallel
  end subroutine

  subroutine c_lock() bind(C)
    integer(omp_lock_kind) :: lock
    call omp_init_lock(lock)
    !$omp parallel num_threads(2)
    call omp_set_lock(lock)
    call work(2)
    call omp_unset_lock(lock)
    !$omp end parallel
    call omp_destroy_lock(lock)
  end subroutine

  subroutine c_nest_lock() bind(C)
    integer(omp_nest_lock_kind) :: lock
    call omp_init_nest_lock(lock)
    !$omp parallel num_threads(2)
    call omp_set_nest_lock(lock)
    call omp_set_nest_lock(lock)
    call work(2)
    call omp_unset_nest_lock(lock)
    call omp_unset_nest_lock(lock)
    !$omp end parallel
    call omp_destroy_nest_lock(lock)
  end subroutine

  subroutine c_copyin() bind(C)
    copied = 2
    !$omp parallel num_threads(2) copyin(copied)
    call work(copied)
    !$omp end parallel
  end subroutine

  subroutine c_serialized() bind(C)
    !$omp parallel if(.false.)
    call work(3)
    !$omp end parallel
  end subroutine

end module

program main
  use constructs
  call begin_constructs()
  call omp_set_max_active_levels(2)
  call c_parallel()
  call tell('c_parallel'//c_null_char, 1)
  call c_for_static()
  call tell('c_for_static'//c_null_char, 1)
  call c_for_chunks()
  call tell('c_for_chunks'//c_null_char, 1)
  call c_for_dynamic()
  call tell('c_for_dynamic'//c_null_char, 1)
  call c_for_guided()
  call tell('c_for_guided'//c_null_char, 1)
  call c_for_runtime()
  call tell('c_for_runtime'//c_null_char, 1)
  call c_for_auto()
  call tell('c_for_auto'//c_null_char, 1)
  call c_for_nowait()
  call tell('c_for_nowait'//c_null_char, 1)
  call c_for_ordered()
  call tell('c_for_ordered'//c_null_char, 1)
  call c_for_doacross()
  call tell('c_for_doacross'//c_null_char, 1)
  call c_for_collapse()
  call tell('c_for_collapse'//c_null_char, 1)
  call c_for_reduction()
  call tell('c_for_reduction'//c_null_char, 1)
  call c_for_lastprivate()
  call tell('c_for_lastprivate'//c_null_char, 1)
  call c_for_simd()
  call tell('c_for_simd'//c_null_char, 1)
  call c_sections()
  call tell('c_sections'//c_null_char, 1)
  call c_parallel_sections()
  call tell('c_parallel_sections'//c_null_char, 1)
  call c_workshare()
  call tell('c_workshare'//c_null_char, 1)
  call c_single()
  call tell('c_single'//c_null_char, 1)
  call c_single_nowait()
  call tell('c_single_nowait'//c_null_char, 1)
  call c_copyprivate()
  call tell('c_copyprivate'//c_null_char, 1)
  call c_master()
  call tell('c_master'//c_null_char, 1)
  call c_critical()
  call tell('c_critical'//c_null_char, 1)
  call c_critical_named()
  call tell('c_critical_named'//c_null_char, 1)
  call c_atomic()
  call tell('c_atomic'//c_null_char, 1)
  call c_barrier()
  call tell('c_barrier'//c_null_char, 1)
  call c_task()
  call tell('c_task'//c_null_char, 1)
  call c_task_undeferred()
  call tell('c_task_undeferred'//c_null_char, 1)
  call c_task_depend()
  call tell('c_task_depend'//c_null_char, 1)
  call c_taskwait()
  call tell('c_taskwait'//c_null_char, 1)
  call c_taskgroup()
  call tell('c_taskgroup'//c_null_char, 1)
  call c_taskloop()
  call tell('c_taskloop'//c_null_char, 1)
  call c_nested()
  call tell('c_nested'//c_null_char, 2)
  call c_lock()
  call tell('c_lock'//c_null_char, 1)
  call c_nest_lock()
  call tell('c_nest_lock'//c_null_char, 1)
  call c_copyin()
  call tell('c_copyin'//c_null_char, 1)
  call c_serialized()
  call tell('c_serialized'//c_null_char, 1)
end program
